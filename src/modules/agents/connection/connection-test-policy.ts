import { Injectable } from '@nestjs/common';

/** The limits on tests of connections. */
@Injectable()
export class ConnectionTestPolicy {
  /** For a whole test, in milliseconds. */
  timeoutMs = 15_000;
  /** Tests that a workspace may start within a minute. */
  perMinute = 6;
}
