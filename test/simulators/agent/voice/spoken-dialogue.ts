import { answerTo, type AnswerToolCall, type Message } from '../conversation.js';
import { type Behaviour, behaviourOf } from '../faults.js';

/** A tool that the other side runs. */
export type ToolRequest = Omit<AnswerToolCall, 'name'> & { readonly name: string };

/** One answer of the agent, and what it does after it. */
export interface SpokenAnswer {
  /** Empty while the agent waits for the results of `calls`. */
  readonly text: string;
  readonly then?: 'hang-up' | 'transfer';
  readonly calls?: readonly ToolRequest[];
}

/** Stands for words that the agent did not understand; not empty, because the dialogue takes that for silence. */
export const NOT_UNDERSTOOD = '(unintelligible)';

export const TRANSFER = 'One moment, please. I will put you through to a colleague.';
export const UNKNOWN_KEY = "I'm sorry, there is nothing behind this key.";

/** More than a minute of speech. */
export const MONOLOGUE =
  'Before we begin, let me tell you about our house. It was opened long ago by two sisters. They had sailed around half ' +
  'the world and brought home recipes from every harbour they saw. To this day the soup is stirred the way the elder one ' +
  'liked it, slowly and with a wooden spoon. The lamps come from an old ferry. The floor comes from a church. The bread ' +
  'comes from the bakery next door. The wine comes from a hill that you can see from the terrace when the weather is ' +
  'clear. It often is, above all in the early evening. The younger sister painted the chairs, each in a colour of its own. ' +
  'The tables are made of the doors of the old harbour office. The cook has been with us for twenty years, and his ' +
  'brother grows the tomatoes. In the winter we light the stove, and the cat of the house sleeps beside it. In the summer ' +
  'we open the windows, and you can hear the ships come in. So much for the house, and now to what you said.';

/** What an agent says and does, turn by turn. */
export interface Dialogue {
  /** Answers the caller's words; without words it greets, or goes on with the results of tools. */
  answer(said?: string): SpokenAnswer;
  /** Takes the result of a tool of the other side. */
  result(toolCallId: string, content: string): void;
  press(keys: string): SpokenAnswer;
}

/** The dialogue of the text agent, turn by turn, with the keys of a telephone. */
export class SpokenDialogue implements Dialogue {
  private readonly messages: Message[] = [];

  /**
   * @param today milliseconds since 1970, to resolve dates such as "on Friday"
   * @param isEndless whether the first answer begins with the monologue
   * @param hostedTools tools that the other side runs
   * @param behaviour what it says and does; that of the healthy agent by default
   */
  constructor(
    private readonly today: number,
    private readonly isEndless: boolean,
    private readonly hostedTools?: () => ReadonlySet<string>,
    private readonly behaviour: Behaviour = behaviourOf(undefined),
  ) {}

  answer(said?: string): SpokenAnswer {
    if (said !== undefined) this.messages.push({ role: 'user', content: said });
    const answer = answerTo(this.messages, this.behaviour, this.today, this.hostedTools?.());
    const { text, toolCalls, finishReason } = answer;
    if (finishReason === 'tool_calls') return { text, calls: toolCalls.slice(-1) };
    this.messages.push({ role: 'assistant', content: text });
    // The greeting is the first message.
    const opening = this.isEndless && this.messages.length === 3 ? `${MONOLOGUE} ` : '';
    return { text: `${opening}${text}`, ...(toolCalls.some(({ name }) => name === 'end_call') && { then: 'hang-up' }) };
  }

  result(toolCallId: string, content: string): void {
    this.messages.push({ role: 'tool', content, toolCallId });
  }

  /** Answers keys: a fact, a colleague, or a telephone number as if it had been said. */
  press(keys: string): SpokenAnswer {
    const number = keys.replace(/#$/, '');
    if (number === '0') return { text: TRANSFER, then: 'transfer' };
    if (number === '1') return { text: this.behaviour.facts.hours };
    if (number === '2') return { text: this.behaviour.facts.address };
    if (/^\d{7,15}$/.test(number)) return this.answer(`My phone number is ${number}.`);
    return { text: UNKNOWN_KEY };
  }
}
