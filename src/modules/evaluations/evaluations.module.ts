import { Module } from '@nestjs/common';
import { AgentsModule } from '../agents/agents.module.js';
import { PersonalitiesModule } from '../personalities/personalities.module.js';
import { EvaluationsController } from './evaluations.controller.js';
import { EvaluationsRepository } from './evaluations.repository.js';
import { EvaluationsService } from './evaluations.service.js';
import { ExchangeController } from './exchange/exchange.controller.js';
import { ExchangeRepository } from './exchange/exchange.repository.js';
import { ExportService } from './exchange/export.service.js';
import { FileSchemaController } from './exchange/file-schema.controller.js';
import { ImportService } from './exchange/import.service.js';

@Module({
  imports: [AgentsModule, PersonalitiesModule],
  controllers: [EvaluationsController, ExchangeController, FileSchemaController],
  providers: [EvaluationsService, EvaluationsRepository, ImportService, ExportService, ExchangeRepository],
  exports: [EvaluationsService],
})
export class EvaluationsModule {}
