import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { notErased } from '../../platform/database/erased-agents.js';
import type { RecordingEntity } from './recording.entity.js';

/** Names the files of a recording. */
export type RecordingKey = Pick<RecordingEntity, 'id' | 'runId' | 'workspaceId'>;

export type NewRecording = Pick<RecordingEntity, 'id' | 'callId' | 'seconds' | 'sampleRate'> & {
  readonly bytes: number;
  readonly peaksBytes: number;
  readonly wireBytes: number;
  /** 0 without facts. */
  readonly factsBytes: number;
};

/** A call with its recording; `runId` is the run of that. */
type FoundCall = Omit<RecordingKey, 'id'> & { readonly id: string | null; readonly origin: string };

/** Recordings deleted by one transaction. */
const MAX_ROWS = 100;

/**
 * Writes nothing if the attempt has lost its claim: then another one counts. Can be repeated when its answer was lost. The lock
 * serialises it with the end of the claim, so that `FIND_UNUSED` sees either the claim or the row.
 */
const INSERT = `
  INSERT INTO recordings (id, call_id, run_id, workspace_id, seconds, sample_rate, bytes, peaks_bytes, wire_bytes, facts_bytes)
  SELECT $1, c.id, c.run_id, c.workspace_id, $3, $4, $5, $6, $7, $8
    FROM (SELECT id, run_id, workspace_id FROM calls WHERE id = $2 AND claim_id = $1 FOR UPDATE) c
  ON CONFLICT (id) DO UPDATE SET bytes = EXCLUDED.bytes RETURNING id`;

/** Imported calls that have not ended have no recording yet. */
const STORED_BYTES = `
  SELECT coalesce((SELECT sum(bytes + peaks_bytes + wire_bytes + facts_bytes) FROM recordings WHERE workspace_id = $1), 0)
       + coalesce((SELECT sum(bytes) FROM call_imports WHERE workspace_id = $1 AND bytes > 0), 0) AS bytes`;

/**
 * The attempt that counts is the last one of an ended call. A call of a derived run has the recording of the one that it
 * judges again.
 */
const FIND = `
  SELECT c.workspace_id AS "workspaceId", coalesce(r.run_id, c.run_id) AS "runId", runs.origin, r.id
    FROM calls c JOIN runs ON runs.id = c.run_id
    LEFT JOIN recordings r ON r.call_id = coalesce(c.recorded_call_id, c.id) AND c.status = 'ENDED' AND r.id::text = c.attempts -> -1 ->> 'callId'
   WHERE c.id = $1 AND ${notErased('c.agent_id')}`;

/** $1: days since the recording; $2: maximum number of recordings. */
const LOCK_EXPIRED = `
  SELECT id, run_id AS "runId", workspace_id AS "workspaceId" FROM recordings
   WHERE created_at < now() - $1 * interval '24 hours' ORDER BY created_at LIMIT $2 FOR UPDATE SKIP LOCKED`;

const DELETE = 'DELETE FROM recordings WHERE id = ANY ($1::uuid[])';

const FORGET_TEXTS = `
  UPDATE recordings SET wire_bytes = 0, facts_bytes = 0 WHERE call_id = ANY ($1::uuid[])
  RETURNING id, run_id AS "runId", workspace_id AS "workspaceId"`;

/**
 * $1: ids from names of files; $2: their run; $3: their workspace. Returns those without a row that no attempt in progress
 * writes, whether its process is alive or its lease has yet to expire. Files of an unknown workspace belong to another
 * installation: a service that is given the wrong database must not delete all recordings.
 */
const FIND_UNUSED = `
  SELECT f.id FROM unnest($1::uuid[]) AS f (id)
   WHERE EXISTS (SELECT 1 FROM workspaces WHERE id = $3)
     AND NOT EXISTS (SELECT 1 FROM recordings r WHERE r.id = f.id)
     AND NOT EXISTS (SELECT 1 FROM calls c
                      WHERE c.run_id = $2 AND c.status IN ('QUEUED', 'RUNNING') AND c.claim_id = f.id)`;

/** Which of these runs go on. */
const OPEN_RUNS = `SELECT id FROM runs WHERE id = ANY ($1::uuid[]) AND status IN ('QUEUED', 'RUNNING')`;

/** Imports whose run was cancelled or deleted need no room any more. */
const CLOSE_IMPORTS = `
  UPDATE call_imports i SET bytes = 0, transcript = NULL, tool_calls = NULL
   WHERE (bytes > 0 OR transcript IS NOT NULL)
     AND NOT EXISTS (SELECT 1 FROM runs r WHERE r.id = i.run_id AND r.status IN ('QUEUED', 'RUNNING'))`;

/** SQL for the references to recordings. */
@Injectable()
export class RecordingsRepository {
  constructor(private readonly database: Database) {}

  /** @returns false if the attempt has lost its claim; then nothing was written */
  async insert(recording: NewRecording): Promise<boolean> {
    const { id, callId, seconds, sampleRate, bytes, peaksBytes, wireBytes, factsBytes } = recording;
    const values = [id, callId, seconds, sampleRate, bytes, peaksBytes, wireBytes, factsBytes];
    return (await this.database.query(INSERT, values)).length > 0;
  }

  /** Bytes of all recordings of a workspace, with their other files. */
  async storedBytes(workspaceId: string): Promise<number> {
    const [row] = await this.database.query<{ bytes: string }>(STORED_BYTES, [workspaceId]);
    return Number(row!.bytes);
  }

  /** The call with the recording of its attempt that counts, and the run of that; `id` is null if there is none. */
  async find(callId: string): Promise<FoundCall | undefined> {
    return (await this.database.query<FoundCall>(FIND, [callId]))[0];
  }

  /**
   * Deletes a batch of recordings that are older than `days`: their files first, so that a crash leaves rows, which are found
   * again.
   * @returns the number of deleted recordings
   */
  async deleteExpired(days: number, deleteFiles: (keys: readonly RecordingKey[]) => Promise<void>): Promise<number> {
    return this.database.transaction(async () => {
      const expired = await this.database.query<RecordingKey>(LOCK_EXPIRED, [days, MAX_ROWS]);
      if (expired.length === 0) return 0;
      await deleteFiles(expired);
      await this.database.query(DELETE, [expired.map(({ id }) => id)]);
      return expired.length;
    });
  }

  /** The recordings of these calls, locked, and from now on without wire logs and facts. */
  async forgetTexts(callIds: readonly string[]): Promise<RecordingKey[]> {
    return this.database.query<RecordingKey>(FORGET_TEXTS, [callIds]);
  }

  /** Which of these runs have not ended; the imports of the others are closed. */
  async openRuns(runIds: readonly string[]): Promise<ReadonlySet<string>> {
    await this.database.query(CLOSE_IMPORTS);
    const rows = await this.database.query<{ id: string }>(OPEN_RUNS, [runIds]);
    return new Set(rows.map(({ id }) => id));
  }

  /** Which of these files, named by recording, belong to no recording and to no attempt in progress. */
  async findUnused({
    workspaceId,
    runId,
    ids,
  }: Omit<RecordingKey, 'id'> & { readonly ids: readonly string[] }): Promise<ReadonlySet<string>> {
    const rows = await this.database.query<{ id: string }>(FIND_UNUSED, [ids, runId, workspaceId]);
    return new Set(rows.map(({ id }) => id));
  }
}
