import { type MiddlewareConsumer, Module, type NestModule } from '@nestjs/common';
import { WorkspacesModule } from '../workspaces/workspaces.module.js';
import { ApiKeySettingsService } from './api-key-settings.service.js';
import { ApiKeysController } from './api-keys.controller.js';
import { ApiKeysService } from './api-keys.service.js';
import { FirstKeyService } from './first-key.service.js';
import { IdentifyMiddleware } from './identify.middleware.js';
import { LastUseService } from './last-use.service.js';

@Module({
  imports: [WorkspacesModule],
  controllers: [ApiKeysController],
  providers: [ApiKeysService, ApiKeySettingsService, FirstKeyService, LastUseService],
  exports: [ApiKeysService, FirstKeyService],
})
export class ApiKeysModule implements NestModule {
  configure(consumer: MiddlewareConsumer): void {
    consumer.apply(IdentifyMiddleware).forRoutes('{*path}');
  }
}
