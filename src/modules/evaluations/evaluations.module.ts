import { Module } from '@nestjs/common';
import { AgentsModule } from '../agents/agents.module.js';
import { PersonalitiesModule } from '../personalities/personalities.module.js';
import { EvaluationsController } from './evaluations.controller.js';
import { EvaluationsRepository } from './evaluations.repository.js';
import { EvaluationsService } from './evaluations.service.js';
import { ImportExportController } from './import-export/import-export.controller.js';
import { ImportExportRepository } from './import-export/import-export.repository.js';
import { ExportService } from './import-export/export.service.js';
import { FileSchemaController } from './import-export/file-schema.controller.js';
import { ImportGate } from './import-export/import-gate.js';
import { ImportThreads } from './import-export/import-threads.js';
import { ImportService } from './import-export/import.service.js';
import { SuitePlanner } from './import-export/suite-planner.js';
import { PersonalityImport } from './import-export/personality-import.js';

@Module({
  imports: [AgentsModule, PersonalitiesModule],
  controllers: [EvaluationsController, ImportExportController, FileSchemaController],
  providers: [
    EvaluationsService,
    EvaluationsRepository,
    ImportService,
    PersonalityImport,
    SuitePlanner,
    ImportGate,
    ImportThreads,
    ExportService,
    ImportExportRepository,
  ],
  exports: [EvaluationsService],
})
export class EvaluationsModule {}
