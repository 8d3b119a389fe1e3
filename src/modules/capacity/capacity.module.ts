import { Module } from '@nestjs/common';
import { CapacityRepository } from './capacity.repository.js';
import { CapacityService } from './capacity.service.js';
import { NumbersService } from './numbers.service.js';

/** How many calls of a credential a platform carries at once, and that each of them ends. */
@Module({
  providers: [CapacityService, NumbersService, CapacityRepository],
  exports: [CapacityService, NumbersService],
})
export class CapacityModule {}
