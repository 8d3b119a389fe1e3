import { type DynamicModule, Module } from '@nestjs/common';
import type { DataSource } from 'typeorm';
import { AgentsModule } from './modules/agents/agents.module.js';
import { AgentPagesModule } from './modules/agent-pages/agent-pages.module.js';
import { ApiKeysModule } from './modules/api-keys/api-keys.module.js';
import { EvaluationsModule } from './modules/evaluations/evaluations.module.js';
import { ClientPackageModule } from './modules/client-package/client-package.module.js';
import { HealthModule } from './modules/health/health.module.js';
import { PersonalitiesModule } from './modules/personalities/personalities.module.js';
import { ProviderKeysModule } from './modules/provider-keys/provider-keys.module.js';
import { RecordingsModule } from './modules/recordings/recordings.module.js';
import { ResultsModule } from './modules/results/results.module.js';
import { CallsModule } from './modules/calls/calls.module.js';
import { ComparisonModule } from './modules/comparison/comparison.module.js';
import { CaseHistoryModule } from './modules/case-history/case-history.module.js';
import { AlarmsModule } from './modules/alarms/alarms.module.js';
import { RetentionModule } from './modules/retention/retention.module.js';
import { SchedulesModule } from './modules/schedules/schedules.module.js';
import { StartsModule } from './modules/starts/starts.module.js';
import { CallImportsModule } from './modules/call-imports/call-imports.module.js';
import { PromotionModule } from './modules/promotion/promotion.module.js';
import { ToolCallsModule } from './modules/tool-calls/tool-calls.module.js';
import { RunEndsModule } from './modules/run-ends/run-ends.module.js';
import { RejudgingModule } from './modules/rejudging/rejudging.module.js';
import { ProductionDaysModule } from './modules/production-days/production-days.module.js';
import { ExecutionModule } from './modules/execution/execution.module.js';
import { RunsModule } from './modules/runs/runs.module.js';
import { MonitoringModule } from './modules/monitoring/monitoring.module.js';
import { WebhooksModule } from './modules/webhooks/webhooks.module.js';
import { WorkspacesModule } from './modules/workspaces/workspaces.module.js';
import { ClockModule } from './platform/clock.module.js';
import { SettingsModule } from './platform/config/settings.module.js';
import type { Settings } from './platform/config/settings.js';
import { DatabaseModule } from './platform/database/database.module.js';
import { EncryptionModule } from './platform/encryption/encryption.module.js';
import type { KeyRing } from './platform/encryption/key-ring.js';
import { HttpModule } from './platform/http/http.module.js';
import { ListsModule } from './platform/lists/lists.module.js';
import { ObservabilityModule } from './platform/observability/observability.module.js';
import { OpenApiModule } from './platform/openapi/openapi.module.js';
import { OutboundModule } from './platform/outbound/outbound.module.js';
import { QueueModule } from './platform/queue/queue.module.js';
import { ThrottlingModule } from './platform/throttling/throttling.module.js';

/** What the modules need before the application can be created. */
export interface AppContext {
  readonly settings: Settings;
  readonly dataSource: DataSource;
  readonly databaseUrl: string;
  readonly keyRing: KeyRing;
}

/** The table of contents. */
@Module({})
export class AppModule {
  static forRoot({ settings, dataSource, databaseUrl, keyRing }: AppContext): DynamicModule {
    return {
      module: AppModule,
      imports: [
        SettingsModule.forRoot(settings),
        ClockModule,
        DatabaseModule.forRoot(dataSource, databaseUrl),
        EncryptionModule.forRoot(keyRing),
        ThrottlingModule,
        ObservabilityModule,
        // Before the documentation: its route /docs/:name would take the address of the import format's schema.
        EvaluationsModule,
        OpenApiModule,
        QueueModule,
        ListsModule,
        OutboundModule,
        WorkspacesModule,
        ApiKeysModule,
        ProviderKeysModule,
        AgentsModule,
        PersonalitiesModule,
        // Of runs, each imports only earlier ones.
        RunsModule,
        CallsModule,
        PromotionModule,
        ComparisonModule,
        CaseHistoryModule,
        RetentionModule,
        AlarmsModule,
        StartsModule,
        SchedulesModule,
        CallImportsModule,
        ToolCallsModule,
        RunEndsModule,
        RejudgingModule,
        ResultsModule,
        AgentPagesModule,
        ExecutionModule,
        ProductionDaysModule,
        MonitoringModule,
        RecordingsModule,
        WebhooksModule,
        HealthModule,
        ClientPackageModule,
        // Last: its catch-all route takes what no other one took.
        HttpModule,
      ],
    };
  }
}
