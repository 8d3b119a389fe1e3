import { Injectable } from '@nestjs/common';

/** Whether load balancers should still send requests to this process. */
@Injectable()
export class Readiness {
  isShuttingDown = false;
}
