import { Global, Module } from '@nestjs/common';
import { Clock } from './clock.js';

/** One clock for every module. */
@Global()
@Module({ providers: [Clock], exports: [Clock] })
export class ClockModule {}
