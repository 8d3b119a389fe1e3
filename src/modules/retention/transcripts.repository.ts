import { Injectable } from '@nestjs/common';
import { type Attempt, attemptWithoutTexts, type CallResult, withoutTexts } from '../../../libs/simulation/index.js';
import { Database } from '../../platform/database/database.js';

/** A run whose transcripts are due. */
export interface ExpiredRun {
  readonly id: string;
  readonly agentId: string;
}

/** Calls changed by one transaction. Each can have several megabytes. */
const MAX_CALLS = 20;

/** $1: days since the end of a run. Processes that do this at the same time take different runs. */
const LOCK_EXPIRED_RUN = `
  SELECT id, agent_id AS "agentId" FROM runs
   WHERE ended_at < now() - $1 * interval '24 hours' AND ended_at IS NOT NULL AND transcripts_deleted_at IS NULL
   ORDER BY ended_at LIMIT 1 FOR UPDATE SKIP LOCKED`;

/** A run that was derived from one without transcripts must not keep what was said there. */
const LOCK_DERIVED_RUN = `
  SELECT d.id, d.agent_id AS "agentId" FROM runs d JOIN runs s ON s.id = d.derived_from
   WHERE d.derived_from IS NOT NULL AND d.transcripts_deleted_at IS NULL AND d.ended_at IS NOT NULL
     AND s.transcripts_deleted_at IS NOT NULL
   LIMIT 1 FOR UPDATE OF d SKIP LOCKED`;

const CALLS = `
  SELECT c.id, c.attempts, s.result, c.reason,
         (SELECT jsonb_object_agg(a.number, a.result) FROM call_attempts a WHERE a.call_id = c.id) AS earlier
    FROM calls c LEFT JOIN call_results s ON s.call_id = c.id
   WHERE c.run_id = $1 AND c.medium = 'voice' AND c.transcript_deleted_at IS NULL
   ORDER BY c.position LIMIT $2`;

const PUT_CALL = `UPDATE calls SET attempts = $2, reason = $3, transcript_deleted_at = now() WHERE id = $1`;
const PUT_RESULT = 'UPDATE call_results SET result = $2 WHERE call_id = $1';
const PUT_ATTEMPT = 'UPDATE call_attempts SET result = $3 WHERE call_id = $1 AND number = $2';
const PUT_RUN = 'UPDATE runs SET transcripts_deleted_at = now() WHERE id = $1';

interface VoiceCall {
  readonly id: string;
  readonly attempts: readonly Attempt[];
  readonly reason: string | null;
  readonly result: CallResult | null;
  /** Results of earlier attempts by their numbers. */
  readonly earlier: Readonly<Record<string, CallResult>> | null;
}

/** SQL for deleting the texts of voice calls. */
@Injectable()
export class TranscriptsRepository {
  constructor(private readonly database: Database) {}

  /**
   * Deletes the texts of a batch of voice calls of runs that ended more than `days` ago, and of runs derived from those.
   * @param deleteFiles of these calls, before their rows say so
   * @param deleteRest of a run without texts, before its row says so
   * @returns the number of changed rows
   */
  async deleteExpired(
    days: number,
    deleteFiles: (callIds: readonly string[]) => Promise<void>,
    deleteRest: (run: ExpiredRun) => Promise<void>,
  ): Promise<number> {
    return this.database.transaction(async () => {
      const [run] = [
        ...(await this.database.query<ExpiredRun>(LOCK_EXPIRED_RUN, [days])),
        ...(await this.database.query<ExpiredRun>(LOCK_DERIVED_RUN)),
      ];
      if (!run) return 0;
      const calls = await this.database.query<VoiceCall>(CALLS, [run.id, MAX_CALLS]);
      if (calls.length === 0) {
        await deleteRest(run);
        await this.database.query(PUT_RUN, [run.id]);
        return 1;
      }
      await deleteFiles(calls.map(({ id }) => id));
      for (const call of calls) await this.deleteTexts(call);
      return calls.length;
    });
  }

  private async deleteTexts({ id, attempts, reason, result, earlier }: VoiceCall): Promise<void> {
    const emptied = result && withoutTexts(result);
    if (emptied) await this.database.query(PUT_RESULT, [id, JSON.stringify(emptied)]);
    for (const [number, attempt] of Object.entries(earlier ?? {})) {
      await this.database.query(PUT_ATTEMPT, [id, number, JSON.stringify(withoutTexts(attempt))]);
    }
    const summaries = JSON.stringify(attempts.map((attempt) => attemptWithoutTexts(attempt)));
    await this.database.query(PUT_CALL, [id, summaries, emptied ? emptied.reason : reason]);
  }
}
