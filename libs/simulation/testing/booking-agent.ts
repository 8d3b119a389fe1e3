import { inProcess, type Transport } from '../index.js';
import type { Asked, Reply } from './llm-stub.js';
import { wellBehavedJudge } from './misbehaving-models.js';

/** Asks for what it does not know yet, and then books; the faulty one says that it is full. */
export const bookingAgent = (isFaulty: boolean): Transport =>
  inProcess(function* ({ messages }) {
    const of = (side: 'user' | 'assistant') =>
      messages.filter(({ role }) => role === side).map(({ content }) => content);
    const said = of('user').join(' ');
    const hasDecided = of('assistant').some((words) => /booked|full/.test(words));
    if (hasDecided && /bye/i.test(of('user').at(-1) ?? '')) yield { say: 'Goodbye.' };
    else if (hasDecided) yield { say: 'Is there anything else?' };
    else if (!/four/i.test(said)) yield { say: 'For how many people?' };
    else if (!/friday/i.test(said)) yield { say: 'Which day would you like to come?' };
    else if (!/rossi/i.test(said)) yield { say: 'Please give me your name.' };
    else yield { say: isFaulty ? 'I am afraid that we are full.' : 'Your table is booked.' };
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
