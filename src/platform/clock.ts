import { Injectable } from '@nestjs/common';

/** The time of day; tests set it. */
@Injectable()
export class Clock {
  /** Milliseconds since the epoch. */
  now(): number {
    return Date.now();
  }
}
