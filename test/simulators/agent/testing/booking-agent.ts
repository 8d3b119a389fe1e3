import { inProcess, type Transport } from '../../../../libs/simulation/index.js';
import type { Asked, Reply } from '../../model/llm-stub.js';
import { wellBehavedJudge } from '../../model/misbehaving-models.js';

/** The words of both sides so far. */
export interface SaidWords {
  readonly caller: readonly string[];
  readonly agent: readonly string[];
}

/** Asks for what it does not know yet, and then books; the faulty one says that it is full. */
export function bookingAnswer({ caller, agent }: SaidWords, isFaulty: boolean): string {
  const said = caller.join(' ');
  const hasDecided = agent.some((words) => /booked|full/.test(words));
  if (hasDecided && /bye/i.test(caller.at(-1) ?? '')) return BOOKING_WORDS.goodbye;
  if (hasDecided) return BOOKING_WORDS.more;
  if (!/four/i.test(said)) return BOOKING_WORDS.people;
  if (!/friday/i.test(said)) return BOOKING_WORDS.day;
  if (!/rossi/i.test(said)) return BOOKING_WORDS.name;
  return isFaulty ? BOOKING_WORDS.full : BOOKING_WORDS.booked;
}

/** Everything that it may say. */
export const BOOKING_WORDS = {
  goodbye: 'Goodbye.',
  more: 'Is there anything else?',
  people: 'For how many people?',
  day: 'Which day would you like to come?',
  name: 'Please give me your name.',
  full: 'I am afraid that we are full.',
  booked: 'Your table is booked.',
} as const;

export const bookingAgent = (isFaulty: boolean): Transport =>
  inProcess(function* ({ messages }) {
    const of = (side: 'user' | 'assistant') =>
      messages.filter(({ role }) => role === side).map(({ content }) => content);
    yield { say: bookingAnswer({ caller: of('user'), agent: of('assistant') }, isFaulty) };
  });

/** What a well-behaved judge must find in a call with the healthy booking agent, and not with the faulty one. */
export const BOOKING_CRITERION = 'The agent books the table.';

const judge = wellBehavedJudge(({ lines }) => lines.some(({ who, text }) => who === 'agent' && /is booked/.test(text)));

/** Plays a caller of the booking agent, and judges `BOOKING_CRITERION`. */
export function wellBehavedModel(asked: Asked): Reply {
  if (asked.role === 'judge') return judge(asked);
  const heard = asked.messages.at(-1)!.content;
  if (/how many/.test(heard)) return { say: 'Four of us.', end: null };
  if (/Which day/.test(heard)) return { say: 'On Friday, please.', end: null };
  if (/your name/.test(heard)) return { say: 'My name is Rossi.', end: null };
  if (/booked|full/.test(heard)) return { say: 'All right. Goodbye.', end: 'That is settled' };
  return { say: 'Hello, I would like to book a table.', end: null };
}
