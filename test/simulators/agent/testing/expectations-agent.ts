import { load } from 'js-yaml';
import { authored, type EvaluationInput, withExpectations } from '../../../../libs/evaluation-definition/index.js';
import type { AgentAction } from '../../../../libs/simulation/index.js';
import { delta, event, type TestServers } from '../../servers.js';
import { setTimeout as sleep } from 'node:timers/promises';

export type GuideExpectations = EvaluationInput & { readonly key: string };

/** The evaluations that the guide to expectations shows. @param markdown the text of docs/guides/expectations.md */
export const guideExpectations = (markdown: string): GuideExpectations[] =>
  [...markdown.matchAll(/```yaml\n(- key[^]*?)```/g)].map(([, yaml = '']) => ({
    ...(load(yaml) as [GuideExpectations])[0],
    personalityId: 'any',
  }));

/** As a run takes it. */
export const expected = (evaluation: EvaluationInput) => withExpectations(authored(evaluation, ''));

/** Words, tool calls and pauses in milliseconds. */
export type Turn = readonly (AgentAction | number)[];

const LOOKED: AgentAction = { tool: 'check_availability', arguments: { people: 2, time: '19:00' } };
const BOOKED: AgentAction = { tool: 'book_table', arguments: { people: 2, time: '20:00' } };
const OFFER: AgentAction = { say: 'Seven is taken. Would eight suit you?' };
const ASK: AgentAction = { say: 'Very well. Shall I book it?' };
const CONFIRM: AgentAction = { say: 'Your table is booked.' };

/** What the agent of the guide does in its turns; it does not greet. */
export const HEALTHY: readonly Turn[] = [
  [LOOKED, OFFER],
  [ASK],
  [BOOKED, CONFIRM],
  [{ say: 'Goodbye, and thank you.' }],
];

/** One fault for each expectation of the guide, by its name: the turns of the agent that are other ones. */
export const EXPECTATION_FAULTS: Readonly<Record<string, Readonly<Record<number, Turn>>>> = {
  'Looks once': { 0: [LOOKED, { tool: 'check_availability', arguments: { people: 2, time: '20:00' } }, OFFER] },
  'Answers in time': { 0: [3_000, LOOKED, OFFER] },
  'Offers another time': { 0: [LOOKED, { say: 'Seven is taken. Which other time would suit you?' }] },
  'Asks before it acts': { 1: [BOOKED, ASK] },
  'Answers once': { 1: [{ say: 'Very well. Shall I book it? Very well. Shall I book it?' }] },
  'Books what was agreed': { 2: [CONFIRM], 3: [BOOKED, { say: 'Goodbye, and thank you.' }] },
  // The caller then goes on, and the agent confirms too late.
  Confirms: { 2: [BOOKED, { say: 'One moment, please.' }], 3: [CONFIRM], 4: [{ say: 'Goodbye, and thank you.' }] },
  'Says goodbye in plain words': { 3: [{ say: 'Goodbye, see www.bella-vista.com for more.' }] },
};

const NAME: Turn = [{ say: 'May I have your name?' }];
const RULE: AgentAction = { tool: 'find_rule', arguments: { about: 'dogs' } };
const DOGS = { say: 'Dogs are welcome on the terrace.' };
const THROUGH: AgentAction = { say: 'I put you through.' };
const transfer = (number: string): AgentAction => ({ tool: 'transfer_call', arguments: { number } });

/** What the agent does that the caller asks for a human. */
const HEALTHY_TRANSFER: readonly Turn[] = [
  NAME,
  [{ say: 'Thank you. How can I help you?' }],
  [RULE, DOGS],
  [transfer('+1 555 0142'), THROUGH],
];

/** As EXPECTATION_FAULTS, and for the criterion. */
const TRANSFER_FAULTS: typeof EXPECTATION_FAULTS = {
  'Knows the rule or finds it out': { 2: [DOGS] },
  'Says it once': { 2: [RULE, DOGS, DOGS] },
  'Passes the call on': { 3: [transfer('+1 555 0143'), THROUGH] },
  'Does nothing else': { 3: [{ tool: 'delete_booking' }, transfer('+1 555 0142'), THROUGH] },
  'The agent stays polite.': { 3: [transfer('+1 555 0142'), { say: 'A human, for such nonsense.' }] },
};

/** The agents of the evaluations that the guide shows, by their key. */
export const EXPECTATION_AGENTS: Readonly<
  Record<string, { readonly healthy: readonly Turn[]; readonly faults: typeof EXPECTATION_FAULTS }>
> = {
  'seven-or-eight': { healthy: HEALTHY, faults: EXPECTATION_FAULTS },
  human: { healthy: HEALTHY_TRANSFER, faults: TRANSFER_FAULTS },
};

/** The same fault by voice, where words that are said twice without a silence are one answer. */
export const SAID_AGAIN = { 'Says it once': { asks: { afterMs: 1_200, words: DOGS.say } } } as const;

/** The agent passes the call on, or does nothing, without a word. */
export const WORDLESS_TRANSFER: readonly Turn[] = [...HEALTHY_TRANSFER.slice(0, 3), [transfer('+1 555 0142')]];
export const SILENT: readonly Turn[] = HEALTHY_TRANSFER.slice(0, 3);

/** An agent that asks again what was answered. */
export const REPEATING: readonly Turn[] = Array<Turn>(12).fill(NAME);

export function turnsWith(fault?: string, key = 'seven-or-eight'): readonly Turn[] {
  const { healthy, faults } = EXPECTATION_AGENTS[key]!;
  const changes = fault === undefined ? {} : faults[fault]!;
  const count = Math.max(healthy.length, ...Object.keys(changes).map((turn) => Number(turn) + 1));
  return Array.from({ length: count }, (_, turn) => changes[turn] ?? healthy[turn] ?? []);
}

/** The agent over chat completions, which runs its tools itself. */
export const startTurnsAgent = (servers: TestServers, turns: readonly Turn[]): Promise<string> =>
  servers.http((response, { messages }: { messages: readonly { role: string }[] }) => {
    const turn = turns[messages.filter(({ role }) => role === 'user').length - 1] ?? [];
    void (async () => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      let index = 0;
      for (const action of turn) {
        if (typeof action === 'number') await sleep(action);
        else if ('say' in action) response.write(delta({ content: action.say }));
        else {
          const call = { name: action.tool, arguments: JSON.stringify(action.arguments ?? {}) };
          response.write(delta({ tool_calls: [{ index, id: `call_${index++}`, type: 'function', function: call }] }));
        }
      }
      response.end(delta({}, 'stop') + event('[DONE]'));
    })();
  });
