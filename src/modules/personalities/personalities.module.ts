import { Module } from '@nestjs/common';
import { PersonalitiesController } from './personalities.controller.js';
import { PersonalitiesRepository } from './personalities.repository.js';
import { PersonalitiesService } from './personalities.service.js';

@Module({
  controllers: [PersonalitiesController],
  providers: [PersonalitiesService, PersonalitiesRepository],
  exports: [PersonalitiesService],
})
export class PersonalitiesModule {}
