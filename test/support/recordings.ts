import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import type { INestApplicationContext } from '@nestjs/common';
import { RecordingFiles, type RecordingPaths } from '../../src/modules/recordings/recording-files.js';
import { Database } from '../../src/platform/database/database.js';

const END_CALL = `
  UPDATE calls SET status = 'ENDED', outcome = 'passed', score = 100, claim_id = NULL, lease_until = NULL,
         attempts = jsonb_build_array(jsonb_build_object('outcome', 'passed', 'failureCode', NULL, 'reason', 'Passed.',
           'startedAt', '2026-11-21T06:37:42.758Z', 'endedAt', '2026-11-21T06:38:42.758Z', 'callId', $2::text))
   WHERE id = $1 RETURNING run_id AS "runId", workspace_id AS "workspaceId"`;
const INSERT = `
  INSERT INTO recordings (id, call_id, run_id, workspace_id, seconds, sample_rate, bytes, facts_bytes)
  SELECT $2, id, run_id, workspace_id, 2, 8000, 32000, 22 FROM calls WHERE id = $1`;
const INSERT_RESULT = 'INSERT INTO call_results (call_id, result) VALUES ($1, $2)';

export interface InsertedRecording {
  readonly id: string;
  readonly runId: string;
  readonly workspaceId: string;
  readonly paths: RecordingPaths;
}

/** Ends a call that has not started, and stores a recording of it with these files. @param result of the call, if any */
export async function insertRecording(
  nest: INestApplicationContext,
  callId: string,
  {
    audio = Buffer.from('RIFF'),
    wire = '{"atMs":0}\n',
    result,
  }: { audio?: Buffer; wire?: string; result?: object } = {},
): Promise<InsertedRecording> {
  const id = randomUUID();
  const database = nest.get(Database);
  const [call] = await database.query<{ runId: string; workspaceId: string }>(END_CALL, [callId, id]);
  const key = { id, ...call! };
  const files = nest.get(RecordingFiles);
  await files.prepare(key);
  const paths = files.paths(key);
  await writeFile(paths.audio, audio);
  await writeFile(paths.wire, wire);
  await writeFile(paths.peaks, '{}');
  await writeFile(paths.facts, gzipSync('{}'));
  await database.query(INSERT, [callId, id]);
  if (result) await database.query(INSERT_RESULT, [callId, JSON.stringify(result)]);
  return { ...key, paths };
}
