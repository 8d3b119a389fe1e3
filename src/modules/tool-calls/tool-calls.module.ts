import { Module } from '@nestjs/common';
import { ThrottlingModule } from '../../platform/throttling/throttling.module.js';
import { ToolCallsController } from './tool-calls.controller.js';
import { ToolCallsRepository } from './tool-calls.repository.js';
import { ToolCallsService } from './tool-calls.service.js';

@Module({
  imports: [ThrottlingModule],
  controllers: [ToolCallsController],
  providers: [ToolCallsService, ToolCallsRepository],
  exports: [ToolCallsService],
})
export class ToolCallsModule {}
