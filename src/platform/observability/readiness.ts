import { Injectable } from '@nestjs/common';

/** Whether new requests should still be sent here. */
@Injectable()
export class Readiness {
  isShuttingDown = false;
}
