import { Module } from '@nestjs/common';
import { RecordingFiles } from './recording-files.js';
import { RecordingPruner } from './recording-pruner.js';
import { RecordingsController } from './recordings.controller.js';
import { RecordingsRepository } from './recordings.repository.js';
import { RecordingsService } from './recordings.service.js';

@Module({
  controllers: [RecordingsController],
  providers: [RecordingsService, RecordingsRepository, RecordingFiles, RecordingPruner],
  exports: [RecordingsService],
})
export class RecordingsModule {}
