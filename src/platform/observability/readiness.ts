import { Injectable } from '@nestjs/common';

/** Whether load balancers should still send requests to this process. */
@Injectable()
export class Readiness {
  /** Until the first workspace exists: a client that waits for readiness uses its key next. */
  isStarting = false;
  isShuttingDown = false;
  /** Why this process ends although nobody asked it to. Public: no details. */
  failure: string | undefined;
}
