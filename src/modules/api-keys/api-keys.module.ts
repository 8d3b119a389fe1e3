import { Module } from '@nestjs/common';
import { WorkspacesModule } from '../workspaces/workspaces.module.js';
import { ApiKeySettingsService } from './api-key-settings.service.js';
import { ApiKeysController } from './api-keys.controller.js';
import { ApiKeysRepository } from './api-keys.repository.js';
import { ApiKeysService } from './api-keys.service.js';
import { FirstKeyService } from './first-key.service.js';
import { Identification } from './identification.js';
import { KeyWatchService } from './key-watch.service.js';
import { LastUseService } from './last-use.service.js';

@Module({
  imports: [WorkspacesModule],
  controllers: [ApiKeysController],
  providers: [
    ApiKeysService,
    ApiKeysRepository,
    ApiKeySettingsService,
    FirstKeyService,
    Identification,
    LastUseService,
    KeyWatchService,
  ],
  exports: [ApiKeysService, FirstKeyService, Identification, KeyWatchService],
})
export class ApiKeysModule {}
