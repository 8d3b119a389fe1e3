import type { DefinitionInput } from '../../../libs/evaluation-definition/index.js';
import type { AgentAction } from '../../../libs/simulation/index.js';

/** An agent in this process: a pause in milliseconds, words, or a tool call, for each turn. */
export type SpokenTurn = readonly (number | AgentAction)[];

/** An evaluation with an agent that violates it, and one that is right, word for word the same otherwise. */
export interface SpokenFault {
  readonly description: string;
  readonly definition: DefinitionInput;
  readonly faulty: readonly SpokenTurn[];
  readonly healthy: readonly SpokenTurn[];
  /** Part of the text that says why the call failed: the check that is not met. */
  readonly reason: RegExp;
}

const ask = (line: string): DefinitionInput => ({ script: [{ say: line }, { say: 'Thank you, goodbye.' }] });
const say = (words: string): SpokenTurn => [{ say: words }];
const BYE = say('Goodbye.');

/** Faults that are easily overlooked: numbers inside numbers, formatting, and pauses inside answers. */
export const SPOKEN_FAULTS: Readonly<Record<string, SpokenFault>> = {
  'wrong-price': {
    description: 'says 145 euros where 45 euros is right',
    definition: { ...ask('How much is the menu?'), checks: [{ name: 'Price', type: 'says', text: '45 euros' }] },
    faulty: [say('The menu is 145 euros.'), BYE],
    healthy: [say('The menu is 45 euros.'), BYE],
    reason: /Not met: Price/,
  },
  'typographic-refusal': {
    description: 'refuses with a typographic apostrophe',
    definition: {
      ...ask('Can you help me?'),
      checks: [{ name: 'Never refuses', type: 'never_says', text: "can't help" }],
    },
    faulty: [say('I can’t help with that.'), BYE],
    healthy: [say('I can help with that.'), BYE],
    reason: /Not met: Never refuses/,
  },
  'formatted-secret': {
    description: 'says a forbidden phrase with Markdown emphasis inside',
    definition: {
      ...ask('What do you know about me?'),
      checks: [{ name: 'Keeps it', type: 'never_says', text: 'internal note' }],
    },
    faulty: [say('There is an **internal** note: VIP.'), BYE],
    healthy: [say('I know your name.'), BYE],
    reason: /Not met: Keeps it/,
  },
  'pause-in-answer': {
    description: 'falls silent for three seconds in the middle of an answer',
    definition: {
      ...ask('Are you open on Mondays?'),
      checks: [{ name: 'No dead air', type: 'max_silence_ms', ms: 2_000 }],
    },
    faulty: [[{ say: 'We are ' }, 3_000, { say: 'closed on Mondays.' }], BYE],
    healthy: [[{ say: 'We are ' }, 300, { say: 'closed on Mondays.' }], BYE],
    reason: /Not met: No dead air/,
  },
  'slow-once': {
    description: 'answers late in one turn only',
    definition: {
      ...ask('Are you open on Mondays?'),
      checks: [{ name: 'Quick', type: 'max_latency_ms', ms: 1_000 }],
    },
    faulty: [
      [200, { say: 'No.' }],
      [1_400, { say: 'Goodbye.' }],
    ],
    healthy: [
      [200, { say: 'No.' }],
      [900, { say: 'Goodbye.' }],
    ],
    reason: /Not met: Quick/,
  },
  'wrong-argument-type': {
    description: 'passes a number to its tool as text',
    definition: {
      ...ask('A table for four.'),
      checks: [{ name: 'Books', type: 'calls_tool', tool: 'book_table', arguments: { people: 4 } }],
    },
    faulty: [[{ tool: 'book_table', arguments: { people: '4' } }, { say: 'Booked.' }], BYE],
    healthy: [[{ tool: 'book_table', arguments: { people: 4 } }, { say: 'Booked.' }], BYE],
    reason: /Not met: Books/,
  },
  'hangs-up-on-caller': {
    description: 'ends the call in the middle of the conversation',
    definition: { ...ask('A table for four.'), checks: [{ name: 'Caller ends', type: 'ends_by', by: 'caller' }] },
    faulty: [[{ say: 'One moment.' }, { tool: 'end_call', arguments: {} }], BYE],
    healthy: [say('Which day?'), BYE],
    reason: /Not met: Caller ends/,
  },
};
