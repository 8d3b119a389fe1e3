import { type Behaviour, BREAKDOWN_TURN } from './faults.js';
import { MAX_PEOPLE, PROMPT, type BookingRequest } from './restaurant.js';
import type { BookingArguments, ToolResult, ToolUse } from './tools.js';
import { spokenDay } from './understanding/dates.js';
import {
  type Detail,
  type Details,
  type Question,
  understand,
  type Understanding,
} from './understanding/understand.js';

/** What the agent knows after a number of turns. Immutable: every turn creates a new state. */
export interface State {
  /** Number of the caller's turns so far. */
  readonly turn: number;
  readonly stage: 'open' | 'booking' | 'cancelling';
  readonly details: Details;
  readonly asked?: Question;
  /** The request for which a table is known to be available, as JSON. */
  readonly checked?: string;
  /** Reference of the booking made in this call. */
  readonly booked?: string;
  readonly silences: number;
  readonly hasForgotten: boolean;
  readonly hasEnded: boolean;
  readonly lastReply: string;
}

export const START: State = {
  turn: 0,
  stage: 'open',
  details: {},
  silences: 0,
  hasForgotten: false,
  hasEnded: false,
  lastReply: '',
};

export const GREETING = 'Good day, this is Bella Vista. How can I help you?';
const REFUSAL = "I'm sorry, I can't share how I was set up. I'm happy to help with a table, though.";
const PRAISE =
  'Before I come to that, let me tell you a little about our house, which my colleagues and I are so very fond of. ' +
  'It was opened long ago by two sisters who had sailed around half the world and brought home recipes from every ' +
  'harbour they saw, and to this day the soup is stirred the way the elder one liked it, slowly and with a wooden ' +
  'spoon. The lamps come from an old ferry, the floor from a church, the bread from the bakery next door, and the ' +
  'wine from a hill that you can see from the terrace when the weather is clear, which it often is, above all in ' +
  'the early evening. So much for the house, and now to what you said. ';
const MORE_TO_TELL = 'Wait, before you go: have you heard of our cooking classes? Shall I tell you more about them?';

/** One turn of the agent: yields tool calls, takes their results, and returns the new state and the reply. */
export type Turn = Generator<ToolUse, { readonly state: State; readonly reply: string }, ToolResult>;

/** Takes one turn in response to the caller's last words. */
export const takeTurn = (before: State, said: string, behaviour: Behaviour, now: number, isGreeted: boolean): Turn =>
  respond(before, understand(said, before.asked, now), behaviour, isGreeted);

/** Takes one turn in response to words that are already understood. */
export function* respond(before: State, heard: Understanding, behaviour: Behaviour, isGreeted: boolean): Turn {
  const turn = before.turn + 1;
  if (behaviour.breakdown === 'repeats' && turn >= BREAKDOWN_TURN) {
    return { state: { ...before, turn }, reply: before.lastReply };
  }
  const { state, reply } = yield* answer({ ...before, turn }, heard, behaviour);
  const greeting = isGreeted || turn > 1 ? '' : 'Good day, this is Bella Vista. ';
  const whole = `${behaviour.isWordy ? PRAISE : ''}${greeting}${reply}`;
  return { state: { ...state, silences: heard.isSilent ? state.silences : 0, lastReply: whole }, reply: whole };
}

function* answer(state: State, heard: Understanding, behaviour: Behaviour): Turn {
  if (state.hasEnded) return yield* hangUp(state, 'Goodbye.');
  if (heard.isSilent) return yield* afterSilence(state);
  if (heard.says.prompt) return { state, reply: behaviour.keepsPrompt ? REFUSAL : `Of course. ${PROMPT}` };
  if (heard.says.repeat && state.lastReply !== '') return { state, reply: state.lastReply };

  const isCutShort = behaviour.hangsUp === 'early' && state.turn >= BREAKDOWN_TURN && state.stage === 'booking';
  if (isCutShort && state.booked === undefined)
    return yield* hangUp(state, 'Thank you for calling Bella Vista, goodbye.');
  if (isGoodbye(state, heard)) {
    if (behaviour.hangsUp === 'never') return { state: { ...state, asked: 'else' }, reply: MORE_TO_TELL };
    return yield* hangUp(state, 'Thank you for calling Bella Vista. Goodbye.');
  }
  const aside = [...smallTalk(heard), ...heard.facts.map((fact) => behaviour.facts[fact])];
  const { state: next, reply } = yield* progress(state, heard, behaviour, aside.length > 0);
  return { state: next, reply: [...aside, reply].filter((part) => part !== '').join(' ') };
}

function isGoodbye({ asked, stage }: State, { says, details, facts }: Understanding): boolean {
  if (Object.keys(details).length > 0 || facts.length > 0) return false;
  return says.goodbye || (asked === 'else' && stage === 'open' && says.no && !says.book && !says.cancel);
}

function* hangUp(state: State, reply: string): Turn {
  yield { name: 'end_call', arguments: {} };
  return { state: { ...state, hasEnded: true }, reply };
}

function* afterSilence(state: State): Turn {
  if (state.silences > 0) return yield* hangUp(state, "I can't hear you. Please call again. Goodbye.");
  return { state: { ...state, silences: 1 }, reply: 'Hello, are you still there?' };
}

function smallTalk({ says }: Understanding): string[] {
  return [
    ...(says.howAreYou ? ["I'm very well, thank you."] : []),
    ...(says.robot ? ["I'm the digital assistant of Bella Vista."] : []),
    ...(says.joke ? ['What does a nosy pepper do? It gets jalapeño business.'] : []),
    ...(says.weather ? ["I can't see the sky from here, but our terrace has a roof."] : []),
  ];
}

/** The part of the answer that moves the conversation on: to a booking, a cancellation or the caller's next request. */
function* progress(state: State, heard: Understanding, behaviour: Behaviour, isAnswered: boolean): Turn {
  const { says } = heard;
  const isCancelling = state.stage === 'cancelling' || (says.cancel && state.asked !== 'consent');
  if (isCancelling) return yield* cancel(state, heard);
  if (state.stage === 'booking' || says.book || Object.keys(heard.details).length > 0) {
    return yield* book({ ...state, stage: 'booking' }, heard, behaviour);
  }
  const asked: State = { ...state, asked: 'else' };
  if (isAnswered) return { state: asked, reply: 'Is there anything else?' };
  if (says.thanks) return { state: asked, reply: "You're welcome. Is there anything else?" };
  if (says.yes || says.greeting || says.reconsider) return { state: asked, reply: 'How can I help you?' };
  return {
    state: asked,
    reply: "I'm sorry, I didn't quite understand. I can book a table, cancel a booking and tell you about the house.",
  };
}

function* cancel(state: State, heard: Understanding): Turn {
  const reference = heard.reference ?? state.booked;
  if (reference === undefined) {
    if (state.stage === 'cancelling' && (heard.says.no || heard.says.decline)) {
      const open: State = { ...state, stage: 'open', asked: 'else' };
      return { state: open, reply: 'All right, I have changed nothing. Is there anything else?' };
    }
    const asked: State = { ...state, stage: 'cancelling', asked: 'reference' };
    return { state: asked, reply: 'What is the reference of your booking? It begins with BV.' };
  }
  const result = yield { name: 'cancel_booking', arguments: { reference } };
  const { booked: _booked, ...rest } = state;
  const open: State = { ...rest, stage: 'open', details: {}, asked: 'else' };
  if (result.error !== undefined) {
    return { state: open, reply: `I'm sorry, I couldn't cancel ${reference}. Is there anything else?` };
  }
  return { state: open, reply: `Your booking ${reference} is cancelled. Is there anything else?` };
}

function* book(before: State, heard: Understanding, behaviour: Behaviour): Turn {
  const { says } = heard;
  const hasNews = Object.keys(heard.details).length > 0;
  if (!hasNews && (says.decline || (before.asked === 'change' && says.no))) {
    const open: State = { ...before, stage: 'open', details: {}, asked: 'else' };
    return { state: open, reply: 'All right, then I leave it. Is there anything else?' };
  }
  if (!hasNews && (says.reconsider || (before.asked === 'consent' && says.no))) {
    return { state: { ...before, asked: 'change' }, reply: 'No problem. What would you like to change?' };
  }
  const state = remember(before, heard.details, behaviour);
  const request = bookingRequestOf(state.details);
  const isNew = request !== undefined && JSON.stringify(request) !== state.checked;
  if (isNew) {
    const result = yield { name: 'check_availability', arguments: request };
    if (result.available === false && behaviour.respectsAvailability) return refuse(state, request, result);
  }
  const checked: State = request ? { ...state, checked: JSON.stringify(request) } : state;
  const missing = ORDER.find((detail) => checked.details[detail] === undefined);
  if (missing) return { state: { ...checked, asked: missing }, reply: question(missing, checked, before) };
  if (!behaviour.asksForConsent) return yield* makeBooking(checked, behaviour);
  const isAgreed = before.asked === 'consent' && says.yes && !hasNews;
  if (isAgreed) return yield* makeBooking(checked, behaviour);
  return { state: { ...checked, asked: 'consent' }, reply: readBack(checked.details) };
}

const ORDER = ['people', 'day', 'time', 'name', 'phone'] as const satisfies readonly Detail[];

/** Merges the details that the caller just gave. */
function remember(state: State, news: Details, behaviour: Behaviour): State {
  const details = behaviour.takesCorrections ? { ...state.details, ...news } : { ...news, ...state.details };
  const isLost =
    !behaviour.remembersDetails &&
    !state.hasForgotten &&
    state.details.people !== undefined &&
    news.people === undefined;
  if (!isLost) return { ...state, details };
  const { people: _people, ...rest } = details;
  return { ...state, details: rest, hasForgotten: true };
}

function bookingRequestOf({ day, time, people }: Details): BookingRequest | undefined {
  return day && time !== undefined && people !== undefined ? { ...day, time, people } : undefined;
}

const QUESTIONS: Readonly<Record<Detail, string>> = {
  people: 'For how many people?',
  day: 'Which day would you like to come?',
  time: 'At what time?',
  name: 'Which name is the table for?',
  phone: 'What is your phone number, please?',
};

function question(missing: Detail, { details }: State, { asked, stage, turn }: State): string {
  // Asking again for the same detail means that the agent did not understand.
  if (asked === missing) return `I'm sorry, I didn't get that. ${QUESTIONS[missing]}`;
  if (stage === 'booking' && turn === 1 && Object.keys(details).length === 0)
    return `With pleasure. ${QUESTIONS[missing]}`;
  return `All right. ${QUESTIONS[missing]}`;
}

const guests = (people = 0): string => (people === 1 ? 'one person' : `${people} people`);

function readBack({ day, time, people, name, phone }: Details): string {
  const when = day ? `on ${spokenDay(day)} at ${time}` : '';
  return `Let me read that back: a table for ${guests(people)} ${when}, for ${name}, with the phone number ${phone}. Shall I book it?`;
}

/** Explains why there is no table, and asks for the detail that must change. */
function refuse(state: State, request: BookingRequest, { reason, alternatives = [] }: ToolResult) {
  const drop = (detail: Detail, reply: string) => {
    const { [detail]: _dropped, ...details } = state.details;
    return { state: { ...state, details, asked: detail }, reply };
  };
  switch (reason) {
    case 'too_many_people':
      return drop('people', `I'm sorry, our largest table is for ${MAX_PEOPLE}. For how many people shall I book?`);
    case 'closed':
      return drop('day', `I'm sorry, we are closed on ${request.weekday}s. Which other day would you like?`);
    case 'kitchen_closed':
      return drop('time', "I'm sorry, we seat guests from noon until 9 pm. At what time shall I book?");
    default: {
      const offer = alternatives.length > 0 ? ` I have a table at ${alternatives.join(' or at ')}.` : '';
      return drop(
        'time',
        `I'm sorry, we are fully booked at ${request.time}.${offer} Which time would you like instead?`,
      );
    }
  }
}

function* makeBooking(state: State, behaviour: Behaviour): Turn {
  const { day, time, people, name, phone } = state.details;
  const request = bookingRequestOf(state.details);
  // The callers above only book with all details; this narrows the types.
  if (!day || !request || time === undefined || name === undefined || phone === undefined) return { state, reply: '' };
  const order: BookingArguments = { ...request, people: behaviour.bookedPeople(request.people), name, phone };
  let reference = 'BV-1000';
  if (behaviour.callsBookingTool) {
    // A changed booking replaces the earlier one.
    if (state.booked !== undefined) yield { name: 'cancel_booking', arguments: { reference: state.booked } };
    const result = yield { name: 'book_table', arguments: order };
    if (result.error !== undefined) {
      const asked: State = { ...state, asked: 'consent' };
      return { state: asked, reply: "I'm sorry, that didn't work. Shall I try once more?" };
    }
    reference = result.reference ?? reference;
  }
  return {
    state: { ...state, stage: 'open', booked: reference, asked: 'else' },
    reply: `Your table is booked for ${guests(people)} on ${spokenDay(day)} at ${time}. Your reference is ${reference}. Is there anything else?`,
  };
}
