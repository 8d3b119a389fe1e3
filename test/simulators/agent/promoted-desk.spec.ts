import {
  type CheckInput,
  type DefinitionInput,
  normalise,
  withVariables,
} from '../../../libs/evaluation-definition/index.js';
import { executeCall, executeTranscribedCall, promote, VirtualClock } from '../../../libs/simulation/index.js';
import { sample } from '../../../libs/statistics/testing/sample.js';
import { type Desk, type DeskFault, deskTransport } from './testing/desk-agent.js';
import { deskCall, type DeskCaller } from './testing/desk-caller.js';

const ROSSI: DeskCaller = {
  opening: "Hello, I'd like to book a table.",
  answers: {
    people: 'Four of us.',
    day: 'Friday would be nice.',
    time: 'At half past seven.',
    name: 'My name is Rossi.',
    phone: 'My number is 415-555-0142.',
  },
};
const IN_FIGURES: DeskCaller = {
  opening: 'Hi. A table for 5, please.',
  answers: {
    people: 'A table for 5, as I said.',
    day: 'Put us down on 2026-12-04.',
    time: '19:30.',
    name: "It's Keller.",
    phone: '+49 170 555 01 77.',
  },
};
const IN_WORDS: DeskCaller = {
  ...ROSSI,
  opening: 'Good evening, do you have a table for six?',
  answers: { ...ROSSI.answers, day: 'That would be on the 4th of December.', time: "At eight o'clock." },
};
const CORRECTS: DeskCaller = { ...ROSSI, correction: 'No, sorry, make it five.' };
const PROTESTS: DeskCaller = { ...ROSSI, protests: ['I have told you that.', 'Forget it, goodbye.'] };
const LEAVES: DeskCaller = { ...ROSSI, protests: [] };
const WANTS_PERSON: DeskCaller = { ...ROSSI, opening: 'I need to speak to a person about a table.', then: [] };
const ASKS_HOURS: DeskCaller = {
  ...ROSSI,
  then: ['Until when are you open?', 'No. Goodbye.'],
};

const books = (args?: Record<string, string | number>, times?: object): CheckInput => ({
  ...{ type: 'calls_tool', tool: 'book_table', name: 'Books' },
  ...(args && { arguments: args }),
  ...(times && { times }),
});
const BOOKS_ROSSI = books({ people: 4, day: 'Friday', name: 'Rossi' });

type Case = readonly [fault: DeskFault, caller: DeskCaller, check: CheckInput, desk?: Desk];

/** What failed for a real caller, the agent that it failed with, and the check that finds it. */
const CASES: readonly Case[] = [
  ['books one more', ROSSI, BOOKS_ROSSI],
  ['books one more', IN_FIGURES, books({ people: 5 }), { order: ['name', 'time', 'day', 'phone', 'people'] }],
  ['books under no name', ROSSI, BOOKS_ROSSI, { order: ['phone', 'name', 'people', 'day', 'time'] }],
  ['books under no name', IN_FIGURES, books({ name: 'Keller' }), { wording: 1 }],
  ['books another day', IN_FIGURES, books({ day: '2026-12-04' }), { asksTwoAtOnce: true }],
  ['books another day', IN_WORDS, books({ day: 'the 4th of December' })],
  ['books half of the number', ROSSI, books({ phone: '415-555-0142' })],
  ['books half of the number', IN_FIGURES, books({ phone: '+49 170 555 01 77' }), { wording: 1 }],
  ['never books', ROSSI, books()],
  ['never books', IN_WORDS, books({ people: 6 }), { order: ['time', 'day', 'name', 'people', 'phone'], wording: 1 }],
  [
    'asks for no consent',
    ROSSI,
    {
      ...{ type: 'says_before', name: 'Asks', first: { pattern: '(?i)shall I book|is that correct' } },
      then: { pattern: 'is booked' },
    },
  ],
  ['ignores corrections', CORRECTS, books({ people: 5 })],
  [
    'ignores corrections',
    CORRECTS,
    { type: 'never_calls_tool', tool: 'book_table', arguments: { people: 4 } },
    { wording: 1 },
  ],
  ['gives up after an error', ROSSI, books(undefined, { min: 2 }), { isFlaky: true }],
  ['hides an error', IN_FIGURES, books(undefined, { min: 2 }), { isFlaky: true, asksTwoAtOnce: true }],
  ['never transfers', WANTS_PERSON, { type: 'calls_tool', tool: 'transfer_call' }],
  [
    'transfers to sales',
    WANTS_PERSON,
    { type: 'calls_tool', tool: 'transfer_call', arguments: { department: 'manager' } },
  ],
  ['repeats its question', PROTESTS, BOOKS_ROSSI],
  ['repeats its question', LEAVES, BOOKS_ROSSI, { wording: 1 }],
  ['hangs up early', ROSSI, BOOKS_ROSSI],
  ['falls silent', ROSSI, books()],
  ['reads the number out', ROSSI, { type: 'never_says', pattern: 'number [\\d-]+' }],
  ['promises a discount', IN_WORDS, { type: 'never_says', text: 'discount' }],
  ['knows wrong hours', ASKS_HOURS, { type: 'says', text: 'until 10 pm' }],
  ['reads back one more', ROSSI, { type: 'says', pattern: '4 people' }],
  ['asks twice', ROSSI, { type: 'says', pattern: '(?i)how many', times: { min: 0, max: 1 } }],
  ['does not confirm', ROSSI, { type: 'says', text: 'is booked' }],
];

/** What a repaired agent may do otherwise than the faulty one. */
const HEALTHY: readonly Desk[] = [
  {},
  { order: ['phone', 'time', 'name', 'people', 'day'] },
  { wording: 1 },
  { wording: 1, order: ['name', 'day', 'phone', 'time', 'people'] },
  { asksTwoAtOnce: true },
];

/** Calls that ended before their callers had said what a better agent asks for. */
const BROKEN_OFF: ReadonlySet<DeskFault> = new Set([
  'asks for no consent',
  'repeats its question',
  'hangs up early',
  'falls silent',
]);

/** A call of the caller with the agent, as the test that is made of it finds it, and the healthy ones. */
async function outcomes([fault, caller, check, desk = {}]: Case) {
  const who = { scenario: { scenarioText: 'A real caller.' }, personality: { name: 'Real caller' } };
  const definition = normalise({ checks: [check] });
  const record = { ...deskCall(caller, { ...desk, fault }), callId: '', definition, ...who };
  const call = await executeTranscribedCall({ ...record, clock: new VirtualClock() });
  const promotion = await promote(call, definition, () => Promise.resolve());
  if (!promotion) throw new Error(`The agent that ${fault}: ${call.outcome}, ${call.reason}`);
  const { variables, notFailing, ...content } = promotion;
  const test = withVariables(normalise(content as DefinitionInput), variables[0] ?? null);
  const against = async (agent: Desk) => {
    const clock = new VirtualClock();
    const transport = deskTransport({ ...desk, ...agent });
    const { outcome, invalidity } = await executeCall({ definition: test, ...who, transport, clock });
    return invalidity ? `${outcome}, ${invalidity.code}` : outcome;
  };
  const healthy = await Promise.all(HEALTHY.map(against));
  return { fault, notFailing, faulty: await against({ fault }), healthy };
}

describe('a call of a real caller, as a test', () => {
  it.each(sample(CASES).map((one) => [one[0], one] as const))(
    'is red against the agent that %s, and never against a healthy one that asks in other words or another order',
    async (fault, one) => {
      const expected = BROKEN_OFF.has(fault) ? 'invalid, no_answer' : 'passed';
      expect(await outcomes(one)).toEqual({
        ...{ fault, notFailing: [], faulty: 'failed' },
        healthy: HEALTHY.map(() => expected),
      });
    },
  );
});
