import { load } from 'js-yaml';
import { authored, type EvaluationInput, withExpectations } from '../../../../libs/evaluation-definition/index.js';
import type { AgentAction } from '../../../../libs/simulation/index.js';
import { delta, event, type TestServers } from '../../servers.js';
import { setTimeout as sleep } from 'node:timers/promises';

/** The evaluation that the guide to expectations shows. @param markdown the text of docs/guides/expectations.md */
export function guideExpectations(markdown: string): EvaluationInput & { readonly key: string } {
  const [, yaml = ''] = /```yaml\n(- key[^]*?)```/.exec(markdown) ?? [];
  const [evaluation] = load(yaml) as [EvaluationInput & { readonly key: string }];
  return { ...evaluation, personalityId: 'any' };
}

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

export const turnsWith = (fault?: string): readonly Turn[] => {
  const changes = fault === undefined ? {} : EXPECTATION_FAULTS[fault]!;
  const count = Math.max(HEALTHY.length, ...Object.keys(changes).map((turn) => Number(turn) + 1));
  return Array.from({ length: count }, (_, turn) => changes[turn] ?? HEALTHY[turn] ?? []);
};

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
