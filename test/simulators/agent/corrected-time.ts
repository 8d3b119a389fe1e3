import type { EvaluationInput } from '../../../libs/evaluation-definition/index.js';

/** The checks that an agent fails that confirms the first time. */
export const WRONG_TIME_CHECKS = ['Confirms the corrected time', 'Never confirms the first time'] as const;

/**
 * A caller who corrects the time of a booking: an agent with the fault `ignores-correction` confirms the wrong one. Not one of
 * the reference evaluations, whose number the accuracy measurement depends on.
 */
export const correctedTimeEvaluation = (personalityId: string): EvaluationInput => ({
  key: 'corrects-the-time',
  name: 'Books at the corrected time',
  personalityId,
  scenarioText:
    'You are Anna Rossi, phone 555 0142. You ask for a table for four people on Friday at half past seven; when it is read back, you correct it to half past eight.',
  tags: ['booking'],
  script: [
    { say: 'Hello, a table for four people on Friday at half past seven. My name is Rossi, my number is 555 0142.' },
    { say: 'Sorry, at half past eight in the evening, please.' },
    { say: 'Yes, please.' },
    { say: 'Thank you, goodbye.' },
    { end: 'The table is booked' },
  ],
  checks: [
    {
      type: 'says',
      name: WRONG_TIME_CHECKS[0],
      pattern: '(?i)table is booked .* at (20:30|8:30|half past eight)',
    },
    {
      type: 'never_says',
      name: WRONG_TIME_CHECKS[1],
      pattern: '(?i)table is booked .* at (19:30|7:30|half past seven)',
    },
    { type: 'says', name: 'Reads the booking back', pattern: '(?i)shall i book' },
  ],
});
