import { decodeMulaw, encodeMulaw } from '../../../audio/index.js';
import type { WireFactory } from '../wire/wire.js';

/** A control message of the raw protocol. */
export type RawControl = 'clear' | 'turn_end' | `mark:${string}` | `key:${string}` | 'stop';

/**
 * The smallest wire: binary messages are mu-law in both directions, text messages are `RawControl`. For tests of what is the
 * same in all of them.
 */
export const rawWire: WireFactory = (side) => ({
  open: (now) => side.ready(now),
  frame: (now, pcm, frameNumber) => {
    const payload = encodeMulaw(pcm);
    side.send(payload);
    if (side.isLogged) side.log(now, 'sent', { frame: frameNumber, bytes: payload.length });
  },
  key: (_now, digit) => side.send(`key:${digit}`),
  message: (now, data) => {
    if (typeof data !== 'string') side.play(now, decodeMulaw(data));
    else if (data === 'clear') side.clear(now);
    else if (data === 'turn_end') side.turnEnded(now);
    else if (data.startsWith('mark:')) side.mark(now, () => side.send(data));
  },
  stop: () => side.send('stop'),
});
