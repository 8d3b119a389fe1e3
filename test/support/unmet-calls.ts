import type { INestApplicationContext } from '@nestjs/common';
import { Database } from '../../src/platform/database/database.js';

const ASKED = { name: 'Confirms', type: 'says', text: 'booked', speaker: 'agent', weight: 1, required: true };
const RESULT = {
  timeline: ['caller', 'agent'].map((speaker, at) => ({
    ...{ type: 'speech', speaker, text: 'Good evening', start: at * 1_000, end: at * 1_000 + 500, turn: 1 },
  })),
  checks: [{ index: 0, name: 'Confirms', met: false }],
  criteria: [],
  measures: { toolCalls: 0 },
};

const ASK = `
  UPDATE run_evaluations e SET snapshot = jsonb_set(e.snapshot, '{definition,checks}', $2)
    FROM calls c WHERE c.id = $1 AND e.run_id = c.run_id AND e.evaluation_id = c.evaluation_id`;
const INSERT_RESULT = 'INSERT INTO call_results (call_id, result) VALUES ($1, $2)';

/** Gives an ended call without a result one on which a check is not met. */
export async function insertUnmetResult(nest: INestApplicationContext, callId: string): Promise<void> {
  const database = nest.get(Database);
  await database.query(ASK, [callId, JSON.stringify([ASKED])]);
  await database.query(INSERT_RESULT, [callId, JSON.stringify(RESULT)]);
}
