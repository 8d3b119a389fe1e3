import { Module } from '@nestjs/common';
import { RecordingImportsService } from './imports/recording-imports.service.js';
import { RecordingFiles } from './recording-files.js';
import { RecordingReadingsController } from './recording-readings.controller.js';
import { RecordingReadingsRepository } from './recording-readings.repository.js';
import { RecordingPruner } from './recording-pruner.js';
import { RecordingsController } from './recordings.controller.js';
import { RecordingsRepository } from './recordings.repository.js';
import { RecordingUploadsService } from './recording-uploads.service.js';
import { RecordingsService } from './recordings.service.js';

@Module({
  controllers: [RecordingsController, RecordingReadingsController],
  providers: [
    RecordingsService,
    RecordingsRepository,
    RecordingReadingsRepository,
    RecordingFiles,
    RecordingPruner,
    RecordingUploadsService,
    RecordingImportsService,
  ],
  exports: [RecordingsService, RecordingUploadsService, RecordingImportsService],
})
export class RecordingsModule {}
