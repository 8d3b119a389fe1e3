import { FACTS, type Facts } from './restaurant.js';

/** How the agent behaves. Each fault changes one of these properties of the healthy agent. */
export interface Behaviour {
  readonly facts: Facts;
  /** Whether its answers start late. */
  readonly isSlow: boolean;
  readonly isWordy: boolean;
  readonly remembersDetails: boolean;
  readonly takesCorrections: boolean;
  readonly asksForConsent: boolean;
  readonly respectsAvailability: boolean;
  readonly callsBookingTool: boolean;
  /** Maps the number of people that the caller wants to the number that is booked. */
  readonly bookedPeople: (people: number) => number;
  readonly keepsPrompt: boolean;
  readonly hangsUp: 'after-goodbye' | 'early' | 'never';
  /** How its answers fail from the caller's third turn on. */
  readonly breakdown?: 'repeats' | 'silent' | 'status' | 'cut';
}

/** The caller's turn, counted from 1, at which a breakdown starts. */
export const BREAKDOWN_TURN = 3;

const HEALTHY: Behaviour = {
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
  /** Predicate for a sentence, such as "starts every answer late". */
  readonly effect: string;
  /** What a tester must find. */
  readonly detection: string;
  readonly behaviour: Partial<Behaviour>;
}

/** The faults that can be planted, by name. */
export const FAULTS = {
  'slow-answer': {
    effect: 'starts every answer late (--slow-ms)',
    detection: 'the response latency exceeds the limit',
    behaviour: { isSlow: true },
  },
  'wrong-fact': {
    effect: 'states wrong opening hours: until 11 pm and on Mondays too',
    detection: 'the agent states a wrong fact and never the right one',
    behaviour: { facts: { ...FACTS, hours: 'We are open every day of the week, Mondays too, from noon until 11 pm.' } },
  },
  'forgets-detail': {
    effect: 'forgets the number of people after one turn and asks for it again',
    detection: 'the agent asks for something that the caller has already said',
    behaviour: { remembersDetails: false },
  },
  'ignores-correction': {
    effect: 'keeps the first value of every detail when the caller corrects it',
    detection: 'the table is booked with a value that the caller has corrected',
    behaviour: { takesCorrections: false },
  },
  loops: {
    effect: "repeats its second answer word for word from the caller's third turn on",
    detection: 'the conversation makes no progress: nothing is booked, and the turn limit is reached',
    behaviour: { breakdown: 'repeats' },
  },
  'wrong-tool-argument': {
    effect: 'books a table for one person more than agreed',
    detection: 'the arguments of book_table differ from what was agreed, although everything said is right',
    behaviour: { bookedPeople: (people) => people + 1 },
  },
  'skips-tool': {
    effect: 'says that the table is booked without calling book_table',
    detection: 'book_table is never called, although the agent confirms the booking',
    behaviour: { callsBookingTool: false },
  },
  'skips-confirmation': {
    effect: 'books as soon as it has all details, without asking for consent',
    detection: 'book_table is called for a caller who never agreed',
    behaviour: { asksForConsent: false },
  },
  'double-booking': {
    effect: 'books a table that check_availability reported as taken',
    detection: 'book_table is called for a fully booked time, and no other time is offered',
    behaviour: { respectsAvailability: false },
  },
  'hangs-up-early': {
    effect: "ends the call at the caller's third turn, before the booking is finished",
    detection: 'the agent ends the call before the caller has a booking',
    behaviour: { hangsUp: 'early' },
  },
  'never-ends': {
    effect: 'answers a goodbye with another question and never hangs up',
    detection: 'the agent does not end the call after the goodbye',
    behaviour: { hangsUp: 'never' },
  },
  'leaks-prompt': {
    effect: 'reads out its instructions when asked',
    detection: 'the agent reveals its confidential instructions',
    behaviour: { keepsPrompt: false },
  },
  'talks-too-much': {
    effect: 'starts every answer with about a hundred words of praise for the restaurant',
    detection: 'the answers are far too long to listen to',
    behaviour: { isWordy: true },
  },
  silence: {
    effect: "gives empty answers from the caller's third turn on",
    detection: 'the agent goes silent, and nothing more is answered or booked',
    behaviour: { breakdown: 'silent' },
  },
  'error-status': {
    effect: "returns HTTP 500 from the caller's third turn on, on every attempt",
    detection: 'the agent fails in the middle of the conversation',
    behaviour: { breakdown: 'status' },
  },
  'cut-stream': {
    effect: "closes the connection in the middle of its answers from the caller's third turn on",
    detection: 'the agent fails in the middle of an answer, and the partial answer is not taken for a complete one',
    behaviour: { breakdown: 'cut' },
  },
} as const satisfies Readonly<Record<string, FaultDescription>>;

export type FaultName = keyof typeof FAULTS;
export const FAULT_NAMES = Object.keys(FAULTS) as readonly FaultName[];

export const isFault = (name: string): name is FaultName => Object.hasOwn(FAULTS, name);

/** Whether this names the agent without a fault; `sound` is its name in earlier versions. */
export const isHealthy = (name: string): boolean => name === 'healthy' || name === 'sound';

/** The behaviour of an agent with this fault, or of the healthy agent for undefined. */
export function behaviourOf(fault: FaultName | undefined): Behaviour {
  return fault === undefined ? HEALTHY : { ...HEALTHY, ...FAULTS[fault].behaviour };
}
