import { Module } from '@nestjs/common';
import { PersonalitiesController } from './personalities.controller.js';
import { PersonalitiesRepository } from './personalities.repository.js';
import { PersonalitiesService } from './personalities.service.js';
import { PersonalityFilesRepository } from './personality-files.repository.js';
import { PersonalityFilesService } from './personality-files.service.js';

@Module({
  controllers: [PersonalitiesController],
  providers: [PersonalitiesService, PersonalitiesRepository, PersonalityFilesService, PersonalityFilesRepository],
  exports: [PersonalitiesService, PersonalityFilesService],
})
export class PersonalitiesModule {}
