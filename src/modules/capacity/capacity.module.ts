import { Module } from '@nestjs/common';
import { CapacityRepository } from './capacity.repository.js';
import { CapacityService } from './capacity.service.js';

/** How many calls of a credential a platform carries at once, and that each of them ends. */
@Module({ providers: [CapacityService, CapacityRepository], exports: [CapacityService] })
export class CapacityModule {}
