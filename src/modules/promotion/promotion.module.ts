import { Module } from '@nestjs/common';
import { AgentsModule } from '../agents/agents.module.js';
import { CallsModule } from '../calls/calls.module.js';
import { EvaluationsModule } from '../evaluations/evaluations.module.js';
import { PersonalitiesModule } from '../personalities/personalities.module.js';
import { PromotionController } from './promotion.controller.js';
import { PromotionService } from './promotion.service.js';

@Module({
  imports: [AgentsModule, CallsModule, EvaluationsModule, PersonalitiesModule],
  controllers: [PromotionController],
  providers: [PromotionService],
})
export class PromotionModule {}
