import { Module } from '@nestjs/common';
import { AgentsModule } from '../agents/agents.module.js';
import { RecordingsModule } from '../recordings/recordings.module.js';
import { CallsModule } from '../calls/calls.module.js';
import { CallImportsRepository } from './call-imports.repository.js';
import { ImportedCalls } from './imported-calls.service.js';
import { StartsModule } from '../starts/starts.module.js';
import { CallImportGate } from './call-import.gate.js';
import { CallImportsController } from './call-imports.controller.js';
import { CallImportsService } from './call-imports.service.js';
import { ImportReader } from './import-reader.js';

@Module({
  imports: [AgentsModule, CallsModule, RecordingsModule, StartsModule],
  controllers: [CallImportsController],
  providers: [CallImportGate, ImportReader, CallImportsService, CallImportsRepository, ImportedCalls],
  exports: [ImportedCalls],
})
export class CallImportsModule {}
