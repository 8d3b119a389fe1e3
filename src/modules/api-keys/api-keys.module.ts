import { type MiddlewareConsumer, Module, type NestModule } from '@nestjs/common';
import { WorkspacesModule } from '../workspaces/workspaces.module.js';
import { ApiKeysService } from './api-keys.service.js';
import { FirstKeyService } from './first-key.service.js';
import { IdentifyMiddleware } from './identify.middleware.js';

@Module({
  imports: [WorkspacesModule],
  providers: [ApiKeysService, FirstKeyService],
  exports: [ApiKeysService, FirstKeyService],
})
export class ApiKeysModule implements NestModule {
  configure(consumer: MiddlewareConsumer): void {
    consumer.apply(IdentifyMiddleware).forRoutes('{*path}');
  }
}
