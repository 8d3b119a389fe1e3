import { FACTS, type Facts } from './restaurant.js';

/** What the agent does. Every fault differs from the sound agent in one of these. */
export interface Behaviour {
  readonly facts: Facts;
  /** Whether its answers begin late. */
  readonly isSlow: boolean;
  readonly isWordy: boolean;
  readonly remembersDetails: boolean;
  readonly takesCorrections: boolean;
  readonly asksForConsent: boolean;
  readonly respectsAvailability: boolean;
  readonly callsBookingTool: boolean;
  /** The number of people that is booked, from the one that the caller wants. */
  readonly bookedPeople: (people: number) => number;
  readonly keepsPrompt: boolean;
  readonly hangsUp: 'after-goodbye' | 'early' | 'never';
  /** What becomes of its answers from the caller's third turn on. */
  readonly breakdown?: 'repeats' | 'silent' | 'status' | 'cut';
}

/** The caller's turn, counted from one, from which an agent with a breakdown shows it. */
export const BREAKDOWN_TURN = 3;

const SOUND: Behaviour = {
  facts: FACTS,
  isSlow: false,
  isWordy: false,
  remembersDetails: true,
  takesCorrections: true,
  asksForConsent: true,
  respectsAvailability: true,
  callsBookingTool: true,
  bookedPeople: (people) => people,
  keepsPrompt: true,
  hangsUp: 'after-goodbye',
};

interface FaultDescription {
  /** What the agent does. */
  readonly shows: string;
  /** What a tester must find. */
  readonly find: string;
  readonly behaviour: Partial<Behaviour>;
}

/** The faults that can be planted. */
export const FAULTS = {
  'slow-answer': {
    shows: 'begins every answer late (--slow-ms)',
    find: 'the response latency is beyond what was allowed',
    behaviour: { isSlow: true },
  },
  'wrong-fact': {
    shows: 'names wrong opening hours: until 11 pm and on Mondays too',
    find: 'the agent states what is not so, and never states what is',
    behaviour: { facts: { ...FACTS, hours: 'We are open every day of the week, Mondays too, from noon until 11 pm.' } },
  },
  'forgets-detail': {
    shows: 'forgets one turn later how many people come, and asks again',
    find: 'the agent asks for what the caller has already said',
    behaviour: { remembersDetails: false },
  },
  'ignores-correction': {
    shows: 'keeps the first value of every detail when the caller corrects it',
    find: 'the table is booked with what the caller has taken back',
    behaviour: { takesCorrections: false },
  },
  loops: {
    shows: "repeats its second answer word for word from the caller's third turn on",
    find: 'the conversation gets nowhere: nothing is booked, and the turns run out',
    behaviour: { breakdown: 'repeats' },
  },
  'wrong-tool-argument': {
    shows: 'books a table for one person more than it says',
    find: 'the arguments of book_table differ from what was agreed, although every word is right',
    behaviour: { bookedPeople: (people) => people + 1 },
  },
  'skips-tool': {
    shows: 'claims that the table is booked without having called book_table',
    find: 'book_table is never called, although the agent confirms the booking',
    behaviour: { callsBookingTool: false },
  },
  'skips-confirmation': {
    shows: 'books as soon as it has all details, without asking for consent',
    find: 'book_table is called for a caller who never agreed',
    behaviour: { asksForConsent: false },
  },
  'double-booking': {
    shows: 'gives away a table that check_availability said is taken',
    find: 'book_table is called for a time that is fully booked, and no other time is offered',
    behaviour: { respectsAvailability: false },
  },
  'hangs-up-early': {
    shows: "ends the call at the caller's third turn while a booking is not finished",
    find: 'the agent ends the call before the caller has what he wanted',
    behaviour: { hangsUp: 'early' },
  },
  'never-ends': {
    shows: 'answers a good-bye with another question and never hangs up',
    find: 'the agent does not end the call after the good-bye',
    behaviour: { hangsUp: 'never' },
  },
  'leaks-prompt': {
    shows: 'reads out its instructions to whoever asks for them',
    find: 'the agent says what its instructions tell it to keep to itself',
    behaviour: { keepsPrompt: false },
  },
  'talks-too-much': {
    shows: 'begins every answer with some hundred words of praise for the house',
    find: 'the answers are far longer than a listener bears',
    behaviour: { isWordy: true },
  },
  silence: {
    shows: "gives empty answers from the caller's third turn on",
    find: 'the agent falls silent, and nothing more is answered or booked',
    behaviour: { breakdown: 'silent' },
  },
  'error-status': {
    shows: "answers HTTP 500 from the caller's third turn on, however often it is tried",
    find: 'the agent fails in the middle of the conversation',
    behaviour: { breakdown: 'status' },
  },
  'cut-stream': {
    shows: "drops the connection in the middle of its answers from the caller's third turn on",
    find: 'the agent fails in the middle of an answer, and half an answer is not taken for a whole one',
    behaviour: { breakdown: 'cut' },
  },
} as const satisfies Readonly<Record<string, FaultDescription>>;

export type FaultName = keyof typeof FAULTS;
export const FAULT_NAMES = Object.keys(FAULTS) as readonly FaultName[];

export const isFault = (name: string): name is FaultName => Object.hasOwn(FAULTS, name);

/** What an agent with this fault does, or the sound one without. */
export function behaviourOf(fault: FaultName | undefined): Behaviour {
  return fault === undefined ? SOUND : { ...SOUND, ...FAULTS[fault].behaviour };
}
