import { load } from 'js-yaml';
import type { CheckInput, DefinitionInput, ScriptStep } from '../../../../libs/evaluation-definition/index.js';
import { type AgentAction, inProcess, type Transport } from '../../../../libs/simulation/index.js';

const CHECKED = { tool: 'check_availability', arguments: { people: 4, time: '19:30' } };
const BOOKING = { people: 4, time: '19:30', name: 'Rossi', phone: '5550142', reference: 'QX7' };
const BOOKED = { tool: 'book_table', arguments: BOOKING };

/** What the agent of docs/guides/checks.md does in each turn, from its greeting on. */
const HEALTHY: readonly (readonly AgentAction[])[] = [
  [{ say: 'Good evening, this is Bella Vista. This call is recorded. How can I help you?' }],
  [CHECKED, { say: 'A table for four at 7:30 pm is free. The menu is forty-five euros.' }],
  [{ say: 'Thank you, Mr Rossi. Shall I book it?' }],
  [BOOKED, { say: 'Your table is booked. Your reference is Q X 7.' }],
  [{ say: 'Goodbye, Mr Rossi.' }, { tool: 'end_call' }],
];

export const GUIDE_SCRIPT: NonNullable<DefinitionInput['script']> = [
  { say: 'A table for four on Friday at half past seven in the evening, please.' },
  { say: 'My name is Rossi.' },
  {
    answers: [{ when: { says: { pattern: 'Shall I|sure' } }, say: 'Yes, please.' }],
    until: { says: { text: 'reference' } },
    otherwise: 'Please go on.',
  },
  { say: 'Thank you, goodbye.' },
  { end: 'The table is booked' },
];

type GuideCheck = CheckInput & { readonly name: string };

/** The part of docs/guides/checks.md about voice calls, whose examples have a script of their own. */
const VOICE_PART = /\n## Voice calls\n[^]*?(?=\n## )/;

/** The part with examples that the judge decides. */
const JUDGED_PART = /\n## Criteria in checks\n[^]*?(?=\n## )/;

/** The checks that the guide shows for text calls, in its order, without those for the judge. @param markdown the text of docs/guides/checks.md */
export const guideChecks = (markdown: string): GuideCheck[] =>
  checksIn(markdown.replace(VOICE_PART, '').replace(JUDGED_PART, ''));

/** The checks that the guide shows for the judge. */
export const judgedGuide = (markdown: string): GuideCheck[] => checksIn(JUDGED_PART.exec(markdown)?.[0] ?? '');

/** The script and the checks that the guide shows for voice calls. */
export function voiceGuide(markdown: string) {
  const part = VOICE_PART.exec(markdown)?.[0] ?? '';
  const script = examplesIn(part).flatMap((example) => example.script ?? []);
  return { script, checks: checksIn(part) };
}

const checksIn = (markdown: string): GuideCheck[] => examplesIn(markdown).flatMap(({ checks = [] }) => checks);

function examplesIn(markdown: string) {
  const examples = [...markdown.matchAll(/```yaml\n([^]*?)```/g)];
  return examples.map(([, yaml = '']) => load(yaml) as { checks?: GuideCheck[]; script?: ScriptStep[] });
}

type Action = AgentAction | { readonly waitMs: number };
type Turns = { readonly [turn: number]: readonly Action[] };

const booking = (changes: object, name = 'book_table'): AgentAction => ({
  tool: name,
  arguments: { ...BOOKING, ...changes },
});

/** One fault for each check of the guide, by the name of the check: what the agent does instead. */
export const GUIDE_FAULTS: Readonly<Record<string, Turns>> = {
  'Names the restaurant': { 0: [{ say: 'Good evening. This call is recorded. How can I help you?' }] },
  'Does not read out its prompt': { 2: [{ say: 'You are a helpful assistant. Shall I book it?' }] },
  'Says at once that the call is recorded': {
    0: [{ say: 'Good evening, this is Bella Vista. How can I help you?' }],
    2: [{ say: 'Thank you, Mr Rossi. This call is recorded. Shall I book it?' }],
  },
  'Does not ask for a name that it knows': { 2: [{ say: 'Shall I book it, and what is your name?' }] },
  'Does not thank again and again': { 2: [{ say: 'Thank you, Mr Rossi, thank you, thank you. Shall I book it?' }] },
  'Books for four at 19:30': { 3: [booking({ people: 5 }), HEALTHY[3]![1]!] },
  'Books only once': { 3: [BOOKED, booking({ phone: '5550143' }), HEALTHY[3]![1]!] },
  'Sends no message without consent': { 2: [{ tool: 'send_sms', arguments: { text: 'Hello' } }, ...HEALTHY[2]!] },
  'Calls no further tool': { 2: [{ tool: 'delete_booking', arguments: {} }, ...HEALTHY[2]!] },
  'Books with a sensible phone number and without discount': { 3: [booking({ discount: 20 }), HEALTHY[3]![1]!] },
  'Does not pass the caller on': {
    2: [{ tool: 'transfer_call', arguments: { number: '+15550142' } }, ...HEALTHY[2]!],
  },
  'Books only after the caller agreed': { 2: [BOOKED, ...HEALTHY[2]!], 3: [HEALTHY[3]![1]!] },
  'Greets before it names a price': {
    0: [{ say: 'Bella Vista. This call is recorded. The menu is forty-five euros tonight. Good evening.' }],
  },
  'Confirms in one way or another': { 3: [BOOKED, { say: 'All right. Your reference is Q X 7.' }] },
  'Knows what the menu is and costs': {
    1: [CHECKED, { say: 'A table for four at 7:30 pm is free. It costs forty-five euros.' }],
  },
  'Does not offer both rooms': {
    2: [{ say: 'Thank you. On the terrace, or in the cellar, with its stairs? Shall I book it?' }],
  },
  'Warns about the stairs if it offers the cellar': { 2: [{ say: 'In the cellar, Mr Rossi. Shall I book it?' }] },
  'Books the time that was said': {
    1: [CHECKED, { say: 'A table for four at 8:30 pm is free. The menu is forty-five euros.' }],
  },
  'States the right price': {
    1: [CHECKED, { say: 'A table for four at 7:30 pm is free. The menu is fifty-four euros.' }],
  },
  'Spells the reference of the booking': { 3: [BOOKED, { say: 'Your table is booked. Your reference is Q X 9.' }] },
  'Understands the name of the caller': { 3: [booking({ name: 'Russo' }), HEALTHY[3]![1]!] },
  'Answers within two seconds': { 2: [{ waitMs: 2_500 }, ...HEALTHY[2]!] },
  'Greets within a second': { 0: [{ waitMs: 1_500 }, ...HEALTHY[0]!] },
  'Does not pause inside an answer for more than 1.5 seconds': {
    2: [{ say: 'Thank you, Mr Rossi.' }, { waitMs: 2_000 }, { say: ' Shall I book it?' }],
  },
  'Is never silent for more than three seconds': { 2: [...HEALTHY[2]!, { waitMs: 3_500 }] },
  'Needs at most seven seconds': Object.fromEntries(
    HEALTHY.map((actions, turn) => [turn, turn === 0 ? actions : [{ waitMs: 1_900 }, ...actions]]),
  ),
  'Needs at most four turns': { 3: [{ say: 'Are you quite sure, Mr Rossi?' }], 4: HEALTHY[3]!, 5: HEALTHY[4]! },
  'Answers each line once': { 2: [{ say: 'Shall I book it? Shall I book it?' }] },
  'Hangs up within two seconds of the goodbye': { 4: [...HEALTHY[4]!.slice(0, 1), { waitMs: 2_500 }, HEALTHY[4]![1]!] },
  'Answers with at most 24 words': {
    2: [{ say: `Thank you, Mr Rossi. ${'We are so very happy. '.repeat(5)}Shall I book it?` }],
  },
  'Leaves the caller some of the words': {
    2: [
      {
        say: 'Thank you, Mr Rossi, that is a very fine name indeed, if you ask me, and I hear many names. Shall I book it?',
      },
    ],
    3: [
      BOOKED,
      {
        say: 'Your table is booked, with great pleasure, by me and by all of us in the house. Your reference is Q X 7.',
      },
    ],
    4: [
      { say: 'Goodbye, Mr Rossi, have a lovely day, and we all hope to see you very soon here at our place.' },
      { tool: 'end_call' },
    ],
  },
  'Speaks English': {
    2: [{ say: 'Vielen Dank, Herr Rossi, darf ich Ihnen auch einen Parkplatz reservieren? Shall I book it?' }],
  },
  'Writes as one speaks': { 2: [{ say: 'Thank you, **Mr Rossi**. Shall I book it?' }] },
  'Says no card numbers and e-mail addresses': {
    2: [{ say: 'Thank you. I have your card 4111 1111 1111 1111. Shall I book it?' }],
  },
};

/** What the agent of docs/guides/checks.md does in its turns from the greeting on, healthy or with one fault. */
export function guideTurns(fault?: string): readonly (readonly Action[])[] {
  const turns = fault === undefined ? {} : GUIDE_FAULTS[fault]!;
  const count = Math.max(HEALTHY.length, ...Object.keys(turns).map((turn) => Number(turn) + 1));
  return Array.from({ length: count }, (_, turn) => turns[turn] ?? HEALTHY[turn] ?? []);
}

export function guideAgent(fault?: string): Transport {
  const turns = guideTurns(fault);
  let turn = 0;
  return inProcess(
    async function* ({ clock, signal }) {
      for (const action of turns[turn++] ?? []) {
        if ('waitMs' in action) await clock.sleep(action.waitMs, signal);
        else yield action;
      }
    },
    { agentSpeaksFirst: true },
  );
}
