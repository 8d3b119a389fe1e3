/** A line of a caller, in parts where it hesitates. Each part is a synthesis of its own. */
export type CallerLine = string | readonly string[];

/**
 * Everything that the agent understands on the telephone: it has no recogniser of speech, but knows how these lines sound in
 * each of the embedded voices.
 */
export const CALLER_LINES: readonly CallerLine[] = [
  "Hello, I'd like to book a table, please.",
  'For four people, please.',
  'On Friday, please.',
  'At half past seven in the evening.',
  'The name is Rossi.',
  'My number is 555 0142.',
  ['My number is', '555 0142.'],
  ['Hello, a table for four people on', 'Friday at half past seven, please.'],
  'Yes, please.',
  'No, thank you. Goodbye.',
  'When are you open, where are you, and can I park there?',
  "Thank you, that's enough. Do you have vegan dishes?",
  'Hello, do you have vegan dishes?',
  'Hello, do you have parking?',
  'Do you have parking?',
  'Can I park there?',
  'Until when are you open?',
  "What's your address?",
  'Hello.',
  'Thank you, goodbye.',
  "That's all, thank you. Goodbye.",
];

export const textOfLine = (line: CallerLine): string => (typeof line === 'string' ? line : line.join(' '));
