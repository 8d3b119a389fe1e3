import { Injectable } from '@nestjs/common';
import type { Attempt, CallResult } from '../../../libs/simulation/index.js';
import { Database } from '../../platform/database/database.js';
import type { RecordingKey } from '../recordings/recordings.service.js';

/** A call that took place, or was judged again already. */
export interface SourceCall {
  readonly result: CallResult;
  /** The attempts before the one that counts. */
  readonly earlier: readonly Attempt[];
  readonly recording: RecordingKey;
}

const FIND = `
  SELECT o.result, s.attempts - -1 AS earlier,
         jsonb_build_object('id', d.id, 'runId', d.run_id, 'workspaceId', d.workspace_id) AS recording
    FROM calls c
    JOIN calls s ON s.id = c.source_call_id
    JOIN call_results o ON o.call_id = s.id
    JOIN recordings d ON d.call_id = c.recorded_call_id AND d.id::text = s.attempts -> -1 ->> 'callId'
   WHERE c.id = $1 AND s.transcript_deleted_at IS NULL`;

const RESULT = `
  SELECT o.result FROM calls c
    JOIN calls s ON s.id = c.source_call_id AND s.transcript_deleted_at IS NULL
    JOIN call_results o ON o.call_id = s.id
   WHERE c.id = $1`;

/** SQL for the calls that derived runs judge again. */
@Injectable()
export class RecordedCallsRepository {
  constructor(private readonly database: Database) {}

  /** What a call of a derived run judges again; undefined if the call, its texts or its recording were deleted. */
  async find(callId: string): Promise<SourceCall | undefined> {
    const [row] = await this.database.query<SourceCall>(FIND, [callId]);
    return row;
  }

  /** The result that a call of a derived run judges again; undefined if it or its texts were deleted. */
  async result(callId: string): Promise<CallResult | undefined> {
    const [row] = await this.database.query<{ result: CallResult }>(RESULT, [callId]);
    return row?.result;
  }
}
