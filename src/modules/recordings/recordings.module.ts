import { Module } from '@nestjs/common';
import { RecordingFiles } from './recording-files.js';
import { RecordingPruner } from './recording-pruner.js';
import { RecordingsController } from './recordings.controller.js';
import { RecordingsRepository } from './recordings.repository.js';
import { RecordingUploads } from './recording-uploads.js';
import { RecordingsService } from './recordings.service.js';

@Module({
  controllers: [RecordingsController],
  providers: [RecordingsService, RecordingsRepository, RecordingFiles, RecordingPruner, RecordingUploads],
  exports: [RecordingsService, RecordingUploads],
})
export class RecordingsModule {}
