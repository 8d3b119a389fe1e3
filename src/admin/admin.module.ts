import { type DynamicModule, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { AppContext } from '../app.module.js';
import { ApiKeysModule } from '../modules/api-keys/api-keys.module.js';
import { ApiKeysService } from '../modules/api-keys/api-keys.service.js';
import { FirstKeyService } from '../modules/api-keys/first-key.service.js';
import { PlanRatesService } from '../modules/workspaces/plan-rates.service.js';
import { WorkspacesModule } from '../modules/workspaces/workspaces.module.js';
import { WorkspacesService } from '../modules/workspaces/workspaces.service.js';
import { ClockModule } from '../platform/clock.module.js';
import { SettingsModule } from '../platform/config/settings.module.js';
import { DatabaseModule } from '../platform/database/database.module.js';
import { EncryptionModule } from '../platform/encryption/encryption.module.js';

/** The part of the service that the admin command needs, without HTTP. */
@Module({})
class AdminModule {
  static forRoot({ settings, dataSource, databaseUrl, keyRing }: AppContext): DynamicModule {
    return {
      module: AdminModule,
      imports: [
        ClockModule,
        SettingsModule.forRoot(settings),
        DatabaseModule.forRoot(dataSource, databaseUrl),
        EncryptionModule.forRoot(keyRing),
        WorkspacesModule,
        ApiKeysModule,
      ],
    };
  }
}

export interface Admin {
  readonly appContext: AppContext;
  readonly workspaces: WorkspacesService;
  readonly planRates: PlanRatesService;
  readonly apiKeys: ApiKeysService;
  readonly firstKeys: FirstKeyService;
  close(): Promise<void>;
}

/** Opens the database, runs `work` and closes it again. */
export type WithAdmin = (work: (admin: Admin) => Promise<void>) => Promise<void>;

export async function openAdmin(appContext: AppContext): Promise<Admin> {
  const context = await NestFactory.createApplicationContext(AdminModule.forRoot(appContext), {
    logger: ['error', 'warn'],
    abortOnError: false,
  });
  return {
    appContext,
    workspaces: context.get(WorkspacesService),
    planRates: context.get(PlanRatesService),
    apiKeys: context.get(ApiKeysService),
    firstKeys: context.get(FirstKeyService),
    close: () => context.close(),
  };
}
