import { type JsonValue, parseArguments } from '../../timeline/text.js';
import { failureOf } from '../../timeline/failure.js';
import type { Clock } from '../../time/clock.js';
import { hangUpReason, HANG_UP_TOOLS } from './hang-up.js';
import type { AgentEvent, Line, LineOptions, Transport } from '../../conversation/transport.js';

/** One action of an in-process agent. */
export type AgentAction =
  | { readonly say: string }
  /** Hang-up tools end the call after the turn, as over HTTP. */
  | { readonly tool: string; readonly arguments?: { readonly [name: string]: JsonValue } };

export interface AgentTurn {
  /** The conversation so far, including the caller's last words, without tool calls. */
  readonly messages: readonly { readonly role: 'user' | 'assistant'; readonly content: string }[];
  /** For delays: on a virtual clock they take no time. */
  readonly clock: Clock;
  /** Aborted when the call is over. */
  readonly signal: AbortSignal;
}

/** An agent as a function that returns its actions in one turn. It may only wait on the clock of the turn. */
export type InProcessAgent = (turn: AgentTurn) => AsyncIterable<AgentAction> | Iterable<AgentAction>;

/** Connects to an agent in this process: on a virtual clock a call is deterministic and takes no time. */
export function inProcess(agent: InProcessAgent, { agentSpeaksFirst = false } = {}): Transport {
  return { name: 'in-process', connect: (options) => new InProcessLine(agent, agentSpeaksFirst, options) };
}

class InProcessLine implements Line {
  private readonly messages: { role: 'user' | 'assistant'; content: string }[] = [];
  private readonly over = new AbortController();

  constructor(
    private readonly agent: InProcessAgent,
    readonly agentSpeaksFirst: boolean,
    private readonly options: LineOptions,
  ) {
    if (agentSpeaksFirst) void this.answer();
  }

  say(text: string) {
    this.messages.push({ role: 'user', content: text });
    const now = this.options.clock.now();
    void this.answer();
    return Promise.resolve({ start: now, end: now });
  }

  hangUp(): void {
    this.over.abort();
  }

  private async answer(): Promise<void> {
    const { clock } = this.options;
    const now = () => clock.now();
    const words: string[] = [];
    let hangUp: string | undefined;
    try {
      const turn = { messages: [...this.messages], clock, signal: this.over.signal };
      for await (const act of this.agent(turn)) {
        if (this.over.signal.aborted) return;
        this.report(act);
        if ('say' in act) words.push(act.say);
        else if (HANG_UP_TOOLS.has(act.tool)) hangUp ??= hangUpReason(act.arguments ?? null);
      }
      if (words.length > 0) {
        this.messages.push({ role: 'assistant', content: words.join('') });
        this.emit({ type: 'speech_end', at: now() });
      }
      if (hangUp === undefined) this.emit({ type: 'turn_end', at: now() });
      else this.emit({ type: 'hang_up', at: now(), reason: hangUp });
    } catch (error) {
      this.emit({ type: 'failure', at: now(), failure: failureOf(error) });
    }
  }

  private report(act: AgentAction): void {
    const at = this.options.clock.now();
    if ('say' in act) return this.emit({ type: 'speech', at, text: act.say });
    this.emit({ type: 'speech_end', at });
    const args = parseArguments(JSON.stringify(act.arguments ?? {}));
    this.emit({ type: 'tool_call', at, endedAt: at, name: act.tool, arguments: args });
  }

  private emit(event: AgentEvent): void {
    if (!this.over.signal.aborted) this.options.emit(event);
  }
}
