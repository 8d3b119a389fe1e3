import { Module } from '@nestjs/common';
import { PlanRatesService } from './plan-rates.service.js';
import { WorkspacesController } from './workspaces.controller.js';
import { WorkspacesRepository } from './workspaces.repository.js';
import { WorkspacesService } from './workspaces.service.js';

@Module({
  controllers: [WorkspacesController],
  providers: [WorkspacesService, WorkspacesRepository, PlanRatesService],
  exports: [WorkspacesService, PlanRatesService],
})
export class WorkspacesModule {}
