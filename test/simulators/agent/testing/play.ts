import {
  lineText,
  type AuthoredEvaluation,
  type Check,
  compileMatcher,
  type Condition,
  type ScriptStep,
  type Speaker,
  type SpokenMatcher,
} from '../../../../libs/evaluation-definition/index.js';
import { AgentFailure, type Clock, createReferenceAgent, type FaultName, type Message } from '../index.js';

interface Spoken {
  readonly speaker: Speaker;
  readonly text: string;
}

/** The result of a call of the simple caller below. */
export interface Played {
  readonly spoken: readonly Spoken[];
  readonly tools: readonly { readonly name: string; readonly arguments: Readonly<Record<string, unknown>> }[];
  readonly latencies: readonly number[];
  readonly turns: number;
  readonly endedBy: Speaker | 'tester';
  readonly failure?: 'agent_status' | 'stream_cut';
  /** Whether the caller hung up because the agent did not answer twice in a row. */
  readonly hasGivenUp: boolean;
  /** Names of the checks that failed. */
  readonly failed: readonly string[];
}

/** A day whose weekday is known: Friday, 4 December 2026. */
export const NOW = Date.UTC(2026, 11, 4, 10);

/**
 * A minimal scripted caller, independent of libs/simulation, so that a bug of one cannot hide in both.
 */
export async function play(evaluation: AuthoredEvaluation, fault?: FaultName): Promise<Played> {
  const call = new Call(fault);
  let position = 0;
  while (call.endedBy === undefined) {
    const step = evaluation.script[position];
    if (call.isUnanswered) await call.sayAgain();
    else if (!step || 'end' in step) call.endedBy = 'caller';
    else if (call.turns >= evaluation.maxTurns) call.endedBy = 'tester';
    else {
      const { say, stays } = lineOf(step, call.lastAnswer);
      if (!stays) position += 1;
      if (say !== undefined) await call.say(say);
    }
  }
  const failed = evaluation.checks.filter((check) => !holds(check, call)).map(({ name }) => name ?? '');
  return { ...call, endedBy: call.endedBy, failed };
}

class Call {
  readonly spoken: Spoken[] = [];
  readonly tools: { name: string; arguments: Record<string, unknown> }[] = [];
  readonly latencies: number[] = [];
  turns = 0;
  endedBy: Speaker | 'tester' | undefined;
  failure: Played['failure'];
  lastAnswer = '';
  hasGivenUp = false;
  isUnanswered = false;
  private lastLine = '';
  private time = 0;
  private readonly messages: Message[] = [];
  private readonly clock: Clock = {
    sleep: async (ms) => {
      this.time += ms;
    },
  };
  private readonly agent;

  constructor(fault: FaultName | undefined) {
    this.agent = createReferenceAgent({ fault, clock: this.clock, now: () => NOW });
  }

  async sayAgain(): Promise<void> {
    await this.say(this.lastLine);
    this.hasGivenUp = this.isUnanswered && this.endedBy === undefined;
    if (this.hasGivenUp) this.endedBy = 'caller';
  }

  async say(text: string): Promise<void> {
    this.lastLine = text;
    this.turns += 1;
    this.spoken.push({ speaker: 'caller', text });
    this.messages.push({ role: 'user', content: text });
    const asked = this.time;
    let answer = '';
    let isFirst = true;
    try {
      for await (const part of this.agent.respond(this.messages)) {
        if (isFirst) this.latencies.push(this.time - asked);
        isFirst = false;
        if (part.type === 'text') answer += part.text;
        if (part.type === 'tool_call') this.tools.push({ name: part.name, arguments: JSON.parse(part.arguments) });
        if (part.type === 'tool_call' && part.name === 'end_call') this.endedBy = 'agent';
      }
    } catch (error) {
      if (!(error instanceof AgentFailure)) throw error;
      this.failure = error.status === undefined ? 'stream_cut' : 'agent_status';
      this.endedBy = 'tester';
    }
    this.messages.push({ role: 'assistant', content: answer });
    if (answer !== '') this.spoken.push({ speaker: 'agent', text: answer });
    this.lastAnswer = answer;
    this.isUnanswered = answer === '';
  }
}

const meets = ({ says, notSays }: Condition, answer: string): boolean =>
  (!says || compileMatcher(says)(answer)) && (!notSays || !compileMatcher(notSays)(answer));

/** The caller's line in this step, and whether the step continues. */
function lineOf(step: ScriptStep, answer: string): { say?: string; stays: boolean } {
  if (step.when && !meets(step.when, answer)) return { stays: false };
  if ('say' in step) return { say: lineText(step.say), stays: false };
  if (!('answers' in step) || (step.until && meets(step.until, answer))) return { stays: false };
  const fitting = step.answers.filter(({ when }) => meets(when, answer)).map(({ say }) => lineText(say));
  const say = fitting.length > 0 ? fitting.join(' ') : step.otherwise;
  return { say, stays: say !== undefined };
}

function holds(check: Check, call: Call): boolean {
  const first = (matcher: SpokenMatcher) => {
    const matches = compileMatcher(matcher);
    return call.spoken.findIndex(({ speaker, text }) => speaker === matcher.speaker && matches(text));
  };
  const isCalled = (tool: string, wanted: Readonly<Record<string, unknown>> = {}) =>
    call.tools.some(
      ({ name, arguments: given }) =>
        name === tool && Object.entries(wanted).every(([key, value]) => given[key] === value),
    );
  switch (check.type) {
    case 'says':
      return first(check) !== -1;
    case 'never_says':
      return first(check) === -1;
    case 'says_before':
      return first(check.first) !== -1 && first(check.first) < first(check.then);
    case 'calls_tool':
      return isCalled(check.tool, check.arguments);
    case 'never_calls_tool':
      return !isCalled(check.tool, check.arguments);
    case 'ends_by':
      return call.endedBy === check.by;
    case 'max_turns':
      return call.turns <= check.turns;
    case 'max_latency_ms':
      return Math.max(...call.latencies) <= check.ms;
    default:
      throw new Error(`The reference evaluations have no ${check.type}`);
  }
}
