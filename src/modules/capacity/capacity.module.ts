import { Module } from '@nestjs/common';
import { CapacityRepository } from './capacity.repository.js';
import { CapacityService } from './capacity.service.js';
import { DialLimitsRepository } from './dial-limits.repository.js';
import { DialLimitsService } from './dial-limits.service.js';
import { NumbersService } from './numbers.service.js';

/** How many calls of a credential a platform carries at once, and that each of them ends; how many numbers are dialled. */
@Module({
  providers: [CapacityService, NumbersService, CapacityRepository, DialLimitsService, DialLimitsRepository],
  exports: [CapacityService, NumbersService, DialLimitsService],
})
export class CapacityModule {}
