import { type AgentAction, inProcess, type Transport } from '../../../../libs/simulation/index.js';

const TOPICS = ['people', 'day', 'time', 'name', 'phone'] as const;
export type Topic = (typeof TOPICS)[number];

export const DESK_FAULTS = [
  'books one more',
  'books under no name',
  'books another day',
  'books half of the number',
  'never books',
  'asks for no consent',
  'ignores corrections',
  'gives up after an error',
  'hides an error',
  'never transfers',
  'transfers to sales',
  'repeats its question',
  'hangs up early',
  'falls silent',
  'reads the number out',
  'promises a discount',
  'knows wrong hours',
  'reads back one more',
  'asks twice',
  'does not confirm',
] as const;
export type DeskFault = (typeof DESK_FAULTS)[number];

/** How a front desk of a restaurant conducts its calls. Each of them is healthy without a fault. */
export interface Desk {
  readonly order?: readonly Topic[];
  /** Which of its wordings it uses. */
  readonly wording?: 0 | 1;
  readonly asksTwoAtOnce?: boolean;
  /** Whether its booking fails the first time. */
  readonly isFlaky?: boolean;
  readonly fault?: DeskFault | undefined;
}

interface Message {
  readonly role: 'user' | 'assistant';
  readonly content: string;
}

const QUESTIONS: Readonly<Record<Topic, readonly [string, string]>> = {
  people: ['For how many people?', 'How many guests will you be?'],
  day: ['Which day would you like to come?', 'What day suits you?'],
  time: ['At what time?', 'When should the table be ready?'],
  name: ['Which name is it for?', 'May I have your name?'],
  phone: ['What is your phone number?', 'Could you give me your number, please?'],
};

/** What the caller has said of each topic, in order. */
const HEARD: Readonly<Record<Topic, RegExp>> = {
  people:
    /\b(?:table for|make it|we are|for) (two|three|four|five|six|\d+)\b(?! ?[ap]m)|\b(two|three|four|five|six|\d+) of us\b/gi,
  day: /\b(monday|tuesday|wednesday|thursday|friday|saturday|sunday)\b|\bon (the \d+(?:st|nd|rd|th) of \w+|\d{4}-\d\d-\d\d)/gi,
  time: /\b(half past \w+|\d{1,2}(?::\d\d)? ?(?:am|pm)|\d{1,2}:\d\d|eight|nine) ?(?:o'clock)?\b(?! of us)/gi,
  name: /\b(?:name is|[Uu]nder|[Ii]t's) ([A-Z]\w+)/g,
  phone: /(\+?\d[\d -]{5,}\d)(?!-\d)/g,
};
const NUMBERS = ['zero', 'one', 'two', 'three', 'four', 'five', 'six'];

function heardOf(messages: readonly Message[], topic: Topic, isFirst: boolean): string | undefined {
  const said = messages.filter(({ role }) => role === 'user').map(({ content }) => content);
  const found = said.flatMap((line) =>
    [...line.matchAll(HEARD[topic])].map((match) => match.slice(1).find((group) => group !== undefined)!),
  );
  // A date is not the beginning of a number.
  const values = topic === 'phone' ? found.filter((value) => !/^\d{4}-\d\d-\d\d$/.test(value)) : found;
  return isFirst ? values[0] : values.at(-1);
}

const peopleOf = (word: string) => (/^\d+$/.test(word) ? Number(word) : NUMBERS.indexOf(word.toLowerCase()));

/** What it does in its turn. Tools do as the words of the call so far say: a desk has no memory of its own. */
export function deskTurn(messages: readonly Message[], desk: Desk): AgentAction[] {
  const { fault, order = TOPICS, wording = 0 } = desk;
  const caller = messages.filter(({ role }) => role === 'user');
  const own = messages.filter(({ role }) => role === 'assistant').map(({ content }) => content);
  const last = caller.at(-1)?.content ?? '';
  const say = (...texts: [string, string?]): AgentAction => ({ say: texts[wording] ?? texts[0] });
  if (fault === 'falls silent' && caller.length > 3) return [];
  if (fault === 'hangs up early' && caller.length > 3) return [say('Thank you, goodbye.'), { tool: 'end_call' }];
  if (/\bgoodbye\b/i.test(last)) return [say('Goodbye.', 'Have a nice day, goodbye.'), { tool: 'end_call' }];
  if (/\b(manager|a person)\b/i.test(last)) {
    if (fault === 'never transfers') return [say('I can help you myself. Is there anything else?')];
    const department = fault === 'transfers to sales' ? 'sales' : 'manager';
    return [
      { tool: 'transfer_call', arguments: { department } },
      say('I connect you.', 'One moment, I put you through.'),
    ];
  }
  if (/\bopen\b/i.test(last)) {
    const until = fault === 'knows wrong hours' ? '11 pm' : '10 pm';
    return [say(`We are open until ${until}. Is there anything else?`, `Until ${until}. Anything else I can do?`)];
  }
  if (!caller.some(({ content }) => /\btable\b/i.test(content))) return [say('How can I help you?')];
  if (own.some((words) => /is booked/.test(words))) return [say('Is there anything else?', 'Anything else I can do?')];
  const details = Object.fromEntries(
    TOPICS.map((topic) => [topic, heardOf(messages, topic, fault === 'ignores corrections')]),
  ) as Partial<Record<Topic, string>>;
  const missing = order.filter((topic) => details[topic] === undefined);
  if (fault === 'repeats its question' && own.length > 2) return [{ say: own[1]! }];
  const greeting = fault === 'promises a discount' && own.length === 1 ? 'You get a discount of 10 %. ' : '';
  if (missing.length > 0) {
    const asked = missing.slice(0, desk.asksTwoAtOnce ? 2 : 1).map((topic) => QUESTIONS[topic][wording]);
    return [{ say: greeting + asked.join(' And: ') }];
  }
  const isAskedAgain = own.filter((words) => words.includes(QUESTIONS.people[wording])).length > 1;
  if (fault === 'asks twice' && !isAskedAgain) return [{ say: `Sorry. ${QUESTIONS.people[wording]}` }];
  return conclude(details as Record<Topic, string>, { own, last, desk, say });
}

interface Concluding {
  readonly own: readonly string[];
  readonly last: string;
  readonly desk: Desk;
  readonly say: (...texts: [string, string?]) => AgentAction;
}

function conclude(details: Record<Topic, string>, { own, last, desk, say }: Concluding): AgentAction[] {
  const { fault, isFlaky = false } = desk;
  const people = peopleOf(details.people);
  const readBack = `${people + Number(fault === 'reads back one more')} people, ${details.day}, ${details.time}, for ${details.name}`;
  const number = fault === 'reads the number out' ? `, number ${details.phone}` : '';
  const isRead = own.at(-1)?.includes(`${readBack}${number}`) ?? false;
  const isAgreed = isRead && /\b(yes|correct|right)\b/i.test(last);
  if (!isAgreed && fault !== 'asks for no consent') {
    return [say(`So that is ${readBack}${number}. Shall I book it?`, `I have ${readBack}${number}. Is that correct?`)];
  }
  const order = {
    people: people + Number(fault === 'books one more'),
    day: fault === 'books another day' ? 'Monday' : details.day,
    time: details.time,
    name: fault === 'books under no name' ? 'Guest' : details.name,
    phone: fault === 'books half of the number' ? details.phone.slice(0, 4) : details.phone,
  };
  const book: AgentAction = { tool: 'book_table', arguments: order };
  const booked = say(
    'Your table is booked. Is there anything else?',
    'All done, it is booked. Anything else I can do?',
  );
  switch (fault) {
    case 'never books':
      return [booked];
    case 'does not confirm':
      return [book, say('Is there anything else?')];
    case 'gives up after an error':
      return [book, say('I am sorry, that does not work today.')];
    case 'hides an error':
      return [book, booked];
    default:
      return isFlaky ? [book, book, booked] : [book, booked];
  }
}

export const deskTransport = (desk: Desk): Transport =>
  inProcess(function* ({ messages }) {
    yield* deskTurn(messages, desk);
  });
