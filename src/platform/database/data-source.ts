import { DataSource, type DataSourceOptions } from 'typeorm';
import { connectionOptions } from './data-source-options.js';
import { Workspaces1733400000100 } from './migrations/1733400000100-workspaces.js';
import { Requests1733400000200 } from './migrations/1733400000200-requests.js';
import { ListTotals1733400000300 } from './migrations/1733400000300-list-totals.js';
import { Agents1733400000400 } from './migrations/1733400000400-agents.js';
import { Personalities1733400000500 } from './migrations/1733400000500-personalities.js';
import { Evaluations1733400000600 } from './migrations/1733400000600-evaluations.js';
import { Runs1733400000700 } from './migrations/1733400000700-runs.js';
import { Calls1733400000800 } from './migrations/1733400000800-calls.js';
import { PlatformCalls1733400000900 } from './migrations/1733400000900-platform-calls.js';
import { Recordings1733400001000 } from './migrations/1733400001000-recordings.js';
import { Webhooks1733400001100 } from './migrations/1733400001100-webhooks.js';
import { PlatformCallsOutliveCalls1795993200000 } from './migrations/1795993200000-platform-calls-outlive-calls.js';
import { ToolCalls1795993660497 } from './migrations/1795993660497-tool-calls.js';
import { EvaluationTimezones1795995027001 } from './migrations/1795995027001-evaluation-timezones.js';
import { History1796002000000 } from './migrations/1796002000000-history.js';
import { ToolCallRefusals1796003000000 } from './migrations/1796003000000-tool-call-refusals.js';
import { Schedules1796004000000 } from './migrations/1796004000000-schedules.js';
import { CaseResults1796005800100 } from './migrations/1796005800100-case-results.js';
import { RunOutcomes1796005800200 } from './migrations/1796005800200-run-outcomes.js';
import { PageLinks1796005800300 } from './migrations/1796005800300-page-links.js';
import { WebhookFormats1796009000000 } from './migrations/1796009000000-webhook-formats.js';
import { WebhookLinks1796009100000 } from './migrations/1796009100000-webhook-links.js';
import { AnsweringNumbers1796021000000 } from './migrations/1796021000000-answering-numbers.js';
import { Alarms1796010000000 } from './migrations/1796010000000-alarms.js';
import { HeartbeatErrors1796010100000 } from './migrations/1796010100000-heartbeat-errors.js';
import { Monitoring1796041000000 } from './migrations/1796041000000-monitoring.js';
import { RecordingReadings1796050000000 } from './migrations/1796050000000-recording-readings.js';
import { OwnCalls1796030000000 } from './migrations/1796030000000-own-calls.js';
import { ReportedCalls1796020000000 } from './migrations/1796020000000-reported-calls.js';
import { AlarmReminders1796010200000 } from './migrations/1796010200000-alarm-reminders.js';
import { Dialling1796022000000 } from './migrations/1796022000000-dialling.js';
import { EvaluationScopes1796021500000 } from './migrations/1796021500000-evaluation-scopes.js';
import { CallsOfAgents1796022500000 } from './migrations/1796022500000-calls-of-agents.js';
import { ProvisionalEvaluations1796033000000 } from './migrations/1796033000000-provisional-evaluations.js';
import { SoundOfProductionCalls1796051000000 } from './migrations/1796051000000-sound-of-production-calls.js';
import { ProductionDays1796040000000 } from './migrations/1796040000000-production-days.js';

export interface DataSourceInput {
  /** PostgreSQL connection string. */
  readonly url: string;
  /** Maximum number of connections of this process. */
  readonly poolSize: number;
  readonly entities: NonNullable<DataSourceOptions['entities']>;
}

/** A data source with all migrations, not connected yet. The schema changes by migrations only. */
export function buildDataSource({ url, poolSize, entities }: DataSourceInput): DataSource {
  return new DataSource({
    ...connectionOptions(url, poolSize),
    entities,
    migrations: [
      Workspaces1733400000100,
      Requests1733400000200,
      ListTotals1733400000300,
      Agents1733400000400,
      Personalities1733400000500,
      Evaluations1733400000600,
      Runs1733400000700,
      Calls1733400000800,
      PlatformCalls1733400000900,
      Recordings1733400001000,
      Webhooks1733400001100,
      PlatformCallsOutliveCalls1795993200000,
      ToolCalls1795993660497,
      EvaluationTimezones1795995027001,
      History1796002000000,
      ToolCallRefusals1796003000000,
      Schedules1796004000000,
      CaseResults1796005800100,
      RunOutcomes1796005800200,
      PageLinks1796005800300,
      WebhookFormats1796009000000,
      WebhookLinks1796009100000,
      Alarms1796010000000,
      HeartbeatErrors1796010100000,
      AlarmReminders1796010200000,
      ReportedCalls1796020000000,
      AnsweringNumbers1796021000000,
      EvaluationScopes1796021500000,
      Dialling1796022000000,
      CallsOfAgents1796022500000,
      OwnCalls1796030000000,
      ProvisionalEvaluations1796033000000,
      ProductionDays1796040000000,
      Monitoring1796041000000,
      RecordingReadings1796050000000,
      SoundOfProductionCalls1796051000000,
    ],
  });
}
