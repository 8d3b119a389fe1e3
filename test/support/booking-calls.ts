import type { EvaluationInput } from '../../libs/evaluation-definition/index.js';
import type { CallResult } from '../../libs/simulation/index.js';
import type { Dialogue, SpokenAnswer } from '../simulators/agent/voice/spoken-dialogue.js';
import { BARGE_IN } from './platform-calls.js';

/** On a busy machine a call is repeated, as the service repeats it. */
export async function measured(attempt: () => Promise<CallResult>): Promise<CallResult> {
  let result = await attempt();
  for (let again = 0; again < 2 && result.failure?.code === 'tester_overloaded'; again++) result = await attempt();
  return result;
}

/** Greets, books a table with a tool, and hangs up. */
export class Booking implements Dialogue {
  private hasBooked = false;

  answer(said?: string): SpokenAnswer {
    if (said === undefined && !this.hasBooked) return { text: 'Good evening.' };
    if (this.hasBooked) return { text: 'Table seven is yours. Goodbye.', then: 'hang-up' };
    this.hasBooked = true;
    return { text: '', calls: [{ id: 't1', name: 'book_table', arguments: '{"people":4}' }] };
  }

  result(): void {}

  press(): SpokenAnswer {
    return this.answer('');
  }
}

export const ASKS: EvaluationInput = {
  ...BARGE_IN,
  script: [{ say: 'A table for four, please.' }, { waitSeconds: 5 }, { end: 'The agent does not hang up' }],
  checks: [
    { type: 'calls_tool', tool: 'book_table', arguments: { people: 4 } },
    { type: 'ends_by', by: 'agent' },
  ],
};
