import { type AgentAction, CallFailure, inProcess, type Transport } from '../../../../libs/simulation/index.js';
import { AgentFailure, createReferenceAgent, type ReferenceAgentOptions } from '../agent.js';

/**
 * The reference agent as an in-process agent on the clock of the call: with a virtual clock a whole call takes no time
 * and needs no network. For tests and benchmarks only: the agent as a server must not load the simulation.
 */
export function referenceTransport(options: Omit<ReferenceAgentOptions, 'clock'> = {}): Transport {
  return inProcess(async function* ({ messages, clock, signal }): AsyncGenerator<AgentAction> {
    const agent = createReferenceAgent({ ...options, clock });
    try {
      for await (const part of agent.respond(messages, { signal })) {
        if (part.type === 'text') yield { say: part.text };
        // The in-process transport also treats `end_call` as hanging up.
        else if (part.type === 'tool_call') yield { tool: part.name, arguments: argumentsOf(part.arguments) };
      }
    } catch (error) {
      throw error instanceof AgentFailure ? callFailureOf(error) : error;
    }
  });
}

const argumentsOf = (json: string) =>
  JSON.parse(json) as NonNullable<Extract<AgentAction, { tool: string }>['arguments']>;

/** Converts the failure to the one that the HTTP transport would report. */
const callFailureOf = ({ status }: AgentFailure): CallFailure =>
  status === undefined ? new CallFailure('stream_cut') : new CallFailure('agent_status', `HTTP ${status}`);
