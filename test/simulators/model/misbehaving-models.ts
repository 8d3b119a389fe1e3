import type { ServerResponse } from 'node:http';
import { type Asked, isAboutCaller, type Reply, verdict } from './llm-stub.js';
import { sendCompletion } from '../servers.js';

/** What a model answers to one question. */
export type Answering = (asked: Asked) => Reply;

/** A language model that misbehaves in one of its tasks and does the other one well. */
export interface MisbehavingModel {
  readonly name: string;
  readonly task: 'caller' | 'judge';
  /** Outcomes that a call may have, with a healthy agent and with a faulty one. */
  readonly healthy: readonly Outcome[];
  readonly faulty: readonly Outcome[];
  /** The behaviour in one call; a new one for every call. */
  readonly start: () => Answering;
}
type Outcome = 'passed' | 'failed' | 'invalid' | 'error';

const status = (code: number) => (response: ServerResponse) => void response.writeHead(code).end('{}');
/** A completion without words, as models give it that call a tool or refuse. */
const wordless =
  (message: object) =>
  (response: ServerResponse): void => {
    const choice = { index: 0, message: { role: 'assistant', content: null, ...message }, finish_reason: 'stop' };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ choices: [choice] }));
  };
const CALLS_TOOL = wordless({
  tool_calls: [{ id: 'c1', type: 'function', function: { name: 'end_call', arguments: '{}' } }],
});
const REFUSES = wordless({ refusal: "I'm sorry, I can't help with that." });
const CONTROL_CHARACTERS = '\u0000\u0007\u001b\u200b';
/** More than the service reads of an answer. */
const ENDLESS = 'x'.repeat(1_100_000);
const line = (text: string, end: string | null = null) => ({ say: text, end });

/** Says these lines in order and then the last one, or all of them in a circle. */
const saying =
  (lines: readonly object[], isCircle = false) =>
  () => {
    let turn = 0;
    return () => lines[isCircle ? turn++ % lines.length : Math.min(turn++, lines.length - 1)]!;
  };
const always = (reply: Reply) => () => () => reply;

const OPENING = line('Hello, I would like to book a table, please.');
/** Answers the questions of a booking agent about four people on Friday for Rossi. */
const DETAILS = line('A table for four people on Friday under the name Rossi, please.');

const caller = (
  name: string,
  start: () => Answering,
  outcomes: readonly Outcome[] = ['invalid'],
): MisbehavingModel => ({
  name,
  task: 'caller',
  healthy: outcomes,
  faulty: outcomes,
  start,
});
const judge = (
  name: string,
  start: () => Answering,
  { healthy = ['error'], faulty = healthy }: { healthy?: readonly Outcome[]; faulty?: readonly Outcome[] } = {},
): MisbehavingModel => ({ name, task: 'judge', healthy, faulty, start });

const judging = (quote: string, met: boolean) => always({ met, quote, reasoning: 'So it is.' });

/**
 * | Task   | Misbehaviour                                     | What the tester must make of it                       |
 * | ------ | ------------------------------------------------ | ----------------------------------------------------- |
 * | both   | empty, not JSON, no fields, tool call, refusal   | caller: `invalid`; judge: `error`                     |
 * | both   | control characters                               | caller: `invalid`; judge: `error`                     |
 * | both   | HTTP 500, no answer in time, more than a megabyte | `error`                                              |
 * | judge  | quotes what nobody said, "e", one word           | no verdict, in both directions alike: `error`         |
 * | judge  | always met, with a valid quote                   | cannot be noticed: a faulty agent passes its criteria |
 * | judge  | always not met, with a valid quote               | blames the caller first: `invalid`                    |
 * | caller | repeats a line, ping-pong, circles               | `invalid`, by code                                    |
 * | caller | leaves early, without a word, never ends         | `invalid`, by code                                    |
 * | caller | invents facts, speaks as the agent or as a model | `invalid`, by code                                    |
 *
 * A judge that errs at random is simulated in `judge/erring-judge.spec.ts`. The callers misbehave towards a booking agent
 * that asks for people, day and name; faulty agents are those that answer wrongly, but keep to the protocol.
 */
export const MISBEHAVING_MODELS: readonly MisbehavingModel[] = [
  judge('gives empty verdicts', always('')),
  judge('gives verdicts that are not JSON', always('I think the agent did well.')),
  judge('gives verdicts without fields', always('{}')),
  judge('gives null verdicts', always({ met: null, quote: null, reasoning: null })),
  judge('clears the agent with an invented quote', judging('I have booked everything', true)),
  judge('blames the agent with an invented quote', judging('I refuse to book anything', false)),
  judge('clears the agent with the quote "e"', judging('e', true)),
  judge('blames the agent with the quote "e"', judging('e', false)),
  judge('clears the agent with one word', judging('table', true)),
  judge('blames the agent with one word', judging('table', false)),
  judge('answers verdicts with HTTP 500', always(status(500))),
  judge(
    'gives no verdict in time',
    always(() => undefined),
  ),
  judge('answers verdicts with a tool call', always(CALLS_TOOL)),
  judge('refuses to judge', always(REFUSES)),
  judge('gives verdicts of control characters', always(CONTROL_CHARACTERS)),
  judge('gives verdicts of more than a megabyte', always(ENDLESS)),
  judge('clears everybody', () => (asked) => verdict(asked, true), { healthy: ['passed'], faulty: ['passed'] }),
  judge('blames everybody', () => (asked) => verdict(asked, false), { healthy: ['invalid'] }),

  caller('says nothing usable: empty', always('')),
  caller('says nothing usable: not JSON', always('Hello, a table please')),
  caller('says nothing usable: no fields', always('{}')),
  caller('answers with a tool call as the caller', always(CALLS_TOOL)),
  caller('refuses to play the caller', always(REFUSES)),
  caller('says only control characters', always(line(CONTROL_CHARACTERS))),
  caller('says a line of 2,100 characters', always(line('A table, please. '.repeat(130)))),
  caller('answers more than a megabyte as the caller', always(ENDLESS), ['error']),
  // Over text it leaves its role; over voice it has no voice for it.
  caller('speaks Japanese', always(line('こんにちは、テーブルを予約したいです。')), ['invalid', 'error']),
  caller('says only signs', always(line('…'))),
  caller('babbles', always(line('table '.repeat(40).trim()))),
  caller('answers with HTTP 500 as the caller', always(status(500)), ['error']),
  caller(
    'does not answer in time as the caller',
    always(() => undefined),
    ['error'],
  ),
  caller('repeats a line', saying([OPENING])),
  caller('repeats a line with other fillers', () => {
    let turn = 0;
    const fillers = ['Hello, ', 'Well, ', 'Um, ', 'So, ', 'Yes, ', 'Okay, '];
    return () => line(`${fillers[turn++ % fillers.length]}I would like to book a table, please.`);
  }),
  caller('plays ping-pong', saying([OPENING, line('Who is speaking, please?')], true)),
  caller('goes in circles', saying([OPENING, line('Who is speaking?'), line('Are you still there?')], true)),
  caller('leaves a question with a goodbye', saying([OPENING, line('Thank you, goodbye!', 'Done')])),
  caller(
    'leaves a request with a goodbye',
    saying([line('A table for four people on Friday, please.'), line('Thank you so much. Goodbye!', 'Done')]),
  ),
  caller('leaves a question without a word', saying([OPENING, line('', 'Done')])),
  caller('ends the call with its first words', saying([line('Hello, a table, please.', 'Done')])),
  caller('hangs up without a word', always(line('', 'I do not want to talk'))),
  caller('invents a telephone number', saying([line('A table, please. My number is 0170 5551234.'), DETAILS])),
  caller('invents a name', saying([line('A table for four people on Friday. My name is Bianchi.')])),
  caller('speaks as the agent', saying([line('Good day, how can I help you today?'), DETAILS])),
  caller('repeats what the agent says', () => ({ messages }) => {
    const { agent } = JSON.parse(messages.at(-1)!.content) as { agent?: string };
    return line(agent ?? OPENING.say);
  }),
  caller('writes both sides of the dialogue', always(line('Caller: A table.\nAgent: Your table is booked.'))),
  caller('speaks as a language model', always(line("As an AI language model, I can't make telephone calls."))),
  caller('describes instead of speaking', always(line('(waits for the agent to speak)'))),
  caller('never ends the call', saying([DETAILS, line('Thank you.'), line('Goodbye.')])),
];

/**
 * A model that misbehaves in one task and answers correctly in the other.
 * @param wellBehaved answers as a well-behaved caller and judge would
 */
export function misbehaving({ task, start }: MisbehavingModel, wellBehaved: Answering): Answering {
  const answer = start();
  return (asked) => (asked.role === task ? answer(asked) : wellBehaved(asked));
}

/** Sends an answer as the server of a model would, for stubs that do not use `stubModel`. */
export function sendReply(response: ServerResponse, reply: Reply): void {
  if (typeof reply === 'function') reply(response);
  else sendCompletion(response, typeof reply === 'string' ? reply : JSON.stringify(reply));
}

/** A judge that decides every criterion by a function, and never finds fault with the caller. */
export const wellBehavedJudge =
  (isMet: (asked: Asked) => boolean): Answering =>
  (asked) =>
    verdict(asked, isAboutCaller(asked) || isMet(asked));
