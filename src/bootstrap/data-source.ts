import type { DataSource } from 'typeorm';
import { AgentEntity } from '../modules/agents/agent.entity.js';
import { AgentConnectionEntity } from '../modules/agents/connection/agent-connection.entity.js';
import { ConnectionTestEntity } from '../modules/agents/connection/connection-test.entity.js';
import { ApiKeyEntity } from '../modules/api-keys/api-key.entity.js';
import { AgentCapacityEntity } from '../modules/capacity/agent-capacity.entity.js';
import { DialUsageEntity } from '../modules/capacity/dial-usage.entity.js';
import { OwnCallEntity } from '../modules/capacity/own-call.entity.js';
import { PlatformCallEntity } from '../modules/capacity/platform-call.entity.js';
import { TrunkPaceEntity } from '../modules/capacity/trunk-pace.entity.js';
import { EvaluationEntity } from '../modules/evaluations/evaluation.entity.js';
import { PersonalityEntity } from '../modules/personalities/personality.entity.js';
import { ProviderKeyEntity } from '../modules/provider-keys/provider-key.entity.js';
import { RecordingEntity } from '../modules/recordings/recording.entity.js';
import { RecordingReadingEntity } from '../modules/recordings/recording-reading.entity.js';
import { CallImportEntity } from '../modules/call-imports/call-import.entity.js';
import { ReportingAttemptEntity } from '../modules/tool-calls/reporting-attempt.entity.js';
import { CallEntity } from '../modules/runs/call.entity.js';
import { CallAttemptEntity } from '../modules/runs/call-attempt.entity.js';
import { CallResultEntity } from '../modules/runs/call-result.entity.js';
import { AlarmEntity } from '../modules/alarms/alarm.entity.js';
import { AlarmMuteEntity } from '../modules/alarms/alarm-mute.entity.js';
import { LookEntity } from '../modules/alarms/look.entity.js';
import { CaseResultEntity } from '../modules/case-history/case-result.entity.js';
import { RunBaselineEntity } from '../modules/comparison/run-baseline.entity.js';
import { DeletedRunEntity } from '../modules/retention/deleted-run.entity.js';
import { ReportLinkEntity } from '../modules/results/report-links/report-link.entity.js';
import { RunEntity } from '../modules/runs/run.entity.js';
import { RunEvaluationEntity } from '../modules/runs/run-evaluation.entity.js';
import { WebhookDeliveryEntity } from '../modules/webhooks/webhook-delivery.entity.js';
import { WebhookEndpointEntity } from '../modules/webhooks/webhook-endpoint.entity.js';
import { WebhookEventEntity } from '../modules/webhooks/webhook-event.entity.js';
import { PlanRateEntity } from '../modules/workspaces/plan-rate.entity.js';
import { UserEntity } from '../modules/workspaces/user.entity.js';
import { ScheduleEntity } from '../modules/schedules/schedule.entity.js';
import { ScheduleSlotEntity } from '../modules/schedules/schedule-slot.entity.js';
import { MonitoringEntity } from '../modules/monitoring/monitoring.entity.js';
import { FetchedCallEntity } from '../modules/monitoring/fetched-call.entity.js';
import { WorkspaceEntity } from '../modules/workspaces/workspace.entity.js';
import { EncryptionCanaryEntity } from '../platform/encryption/canary.entity.js';
import { IdempotencyEntity } from '../platform/idempotency/idempotency.entity.js';
import { DayCallEntity } from '../modules/production-days/day-call.entity.js';
import { QueueWorkerEntity } from '../platform/queue/queue-worker.entity.js';
import { buildDataSource } from '../platform/database/data-source.js';

/** Every entity of the service: the one list that migrations are compared with. */
const ENTITIES = [
  WorkspaceEntity,
  UserEntity,
  PlanRateEntity,
  ApiKeyEntity,
  ProviderKeyEntity,
  AgentEntity,
  AgentConnectionEntity,
  ConnectionTestEntity,
  PersonalityEntity,
  EvaluationEntity,
  RunEntity,
  RunEvaluationEntity,
  RunBaselineEntity,
  DayCallEntity,
  AlarmEntity,
  AlarmMuteEntity,
  LookEntity,
  CaseResultEntity,
  ReportLinkEntity,
  CallEntity,
  CallImportEntity,
  CallAttemptEntity,
  CallResultEntity,
  ReportingAttemptEntity,
  PlatformCallEntity,
  OwnCallEntity,
  MonitoringEntity,
  FetchedCallEntity,
  AgentCapacityEntity,
  DialUsageEntity,
  TrunkPaceEntity,
  RecordingEntity,
  RecordingReadingEntity,
  DeletedRunEntity,
  ScheduleEntity,
  ScheduleSlotEntity,
  WebhookEndpointEntity,
  WebhookEventEntity,
  WebhookDeliveryEntity,
  QueueWorkerEntity,
  IdempotencyEntity,
  EncryptionCanaryEntity,
];

/**
 * The service's data source, not connected yet.
 * @param url PostgreSQL connection string
 * @param poolSize maximum number of connections of this process
 */
export const createDataSource = (url: string, poolSize = 20): DataSource =>
  buildDataSource({ url, poolSize, entities: ENTITIES });
