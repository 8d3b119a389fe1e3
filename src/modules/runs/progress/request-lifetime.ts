import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import type { Caller } from '../../../platform/access/caller.js';
import { closeSignal, onClose } from '../../../platform/http/responses/close-signal.js';
import { KeyWatchService } from '../../api-keys/key-watch.service.js';

/** Time to end a response after its key has become invalid, in milliseconds. A client that does not read is cut off. */
const GRACE_MS = 500;

/** How long a request that waits or streams may go on. */
@Injectable()
export class RequestLifetime {
  constructor(private readonly keys: KeyWatchService) {}

  /** Aborts when the client disconnects, or when its API key is revoked or expires: then the reason is a DomainError. */
  signal(caller: Caller, response: Response): AbortSignal {
    const watch = this.keys.watch(caller);
    const keyEnded = watch.signal;
    let grace: NodeJS.Timeout | undefined;
    const cutOff = () => {
      grace = setTimeout(() => response.destroy(), GRACE_MS);
    };
    keyEnded.addEventListener('abort', cutOff, { once: true });
    onClose(response, () => {
      clearTimeout(grace);
      keyEnded.removeEventListener('abort', cutOff);
      watch.stop();
    });
    return AbortSignal.any([closeSignal(response), keyEnded]);
  }
}
