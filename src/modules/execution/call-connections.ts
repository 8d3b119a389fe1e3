import { Inject, Injectable } from '@nestjs/common';
import { PrioritySemaphore } from '../../../libs/concurrency/index.js';
import { SETTINGS } from '../../platform/config/settings.module.js';
import type { Settings } from '../../platform/config/settings.js';

/** Limits the database connections that concurrent calls use, so that some remain for requests. */
@Injectable()
export class CallConnections extends PrioritySemaphore {
  constructor(@Inject(SETTINGS) { databasePoolSize }: Settings) {
    super(Math.max(1, Math.floor(databasePoolSize / 2)));
  }
}
