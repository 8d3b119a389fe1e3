import type { executeTranscribedCall, JsonValue } from '../../../../libs/simulation/index.js';
import { type Desk, deskTurn, type Topic } from './desk-agent.js';

/** What a real caller wants, in its own words. */
export interface DeskCaller {
  readonly opening: string;
  readonly answers: Readonly<Record<Topic, string>>;
  /** Said once instead of an agreement, when the agent reads back. */
  readonly correction?: string;
  /** What it says after the booking, or after an answer, in order. */
  readonly then?: readonly string[];
  /** What it says to a question that it has answered before; then it hangs up. */
  readonly protests?: readonly string[];
}

const ASKED: readonly (readonly [Topic, RegExp])[] = [
  ['people', /how many/i],
  ['day', /(which|what) day/i],
  ['time', /at what time|when should/i],
  ['name', /name/i],
  ['phone', /number\b.*\?/i],
];

type Reported = NonNullable<Parameters<typeof executeTranscribedCall>[0]['reported']>;
type ToolCall = NonNullable<Reported['toolCalls']>[number];

interface Line {
  readonly speaker: 'agent' | 'caller';
  readonly text: string;
  readonly startMs: number;
  readonly endMs: number;
}

/** The record that a platform has of a call of this caller with the agent. */
export function deskCall(caller: DeskCaller, desk: Desk) {
  const transcript: Line[] = [];
  const toolCalls: ToolCall[] = [];
  let now = 0;
  const add = (speaker: Line['speaker'], text: string) =>
    transcript.push({ speaker, text, startMs: (now += 500), endMs: (now += 1_000) });
  const given = new Set<Topic>();
  const [protests, then] = [[...(caller.protests ?? [])], [...(caller.then ?? ['No, thank you. Goodbye.'])]];
  let correction = caller.correction;
  let endedReason: string | undefined;
  const answerTo = (heard: string): string | undefined => {
    const topics = ASKED.filter(([, pattern]) => pattern.test(heard)).map(([topic]) => topic);
    if (/shall i book|is that correct/i.test(heard)) {
      const said = correction ?? 'Yes, please.';
      correction = undefined;
      return said;
    }
    if (topics.length === 0) return then.shift();
    if (topics.every((topic) => given.has(topic)) && caller.protests) return protests.shift();
    topics.forEach((topic) => given.add(topic));
    return topics.map((topic) => caller.answers[topic]).join(' ');
  };
  add('caller', caller.opening);
  while (endedReason === undefined && transcript.length < 60) {
    const messages = transcript.map(({ speaker, text }) => ({
      role: speaker === 'caller' ? ('user' as const) : ('assistant' as const),
      content: text,
    }));
    const turn = deskTurn(messages, desk);
    const words = turn.flatMap((act) => ('say' in act ? act.say : []));
    for (const act of turn) {
      if ('say' in act) continue;
      if (act.tool === 'end_call') endedReason = 'assistant-ended-call';
      else {
        const isFailed = desk.isFlaky && toolCalls.every(({ name }) => name !== act.tool);
        const result: JsonValue = isFailed ? { error: 'Try again' } : { done: true };
        toolCalls.push({ name: act.tool, arguments: act.arguments ?? {}, result, startMs: now + 100 });
      }
    }
    if (words.length > 0) add('agent', words.join(' '));
    if (endedReason !== undefined) break;
    const said = words.length === 0 ? undefined : answerTo(words.join(' '));
    if (said === undefined) endedReason = 'customer-ended-call';
    else add('caller', said);
  }
  return { transcript, reported: { toolCalls, endedReason, isProduction: true } };
}
