import type { MediaProtocolFactory } from '../media.js';

/** A control message of the raw protocol. */
export type RawControl = 'clear' | 'turn_end' | `mark:${string}` | `key:${string}` | 'stop';

/**
 * The smallest protocol with sound: binary messages are mu-law in both directions, text messages are `RawControl`. For tests
 * of what is the same in all protocols.
 */
export const rawProtocol: MediaProtocolFactory = (side) => ({
  open: () => undefined,
  // The payload may be used again by its owner.
  frame: (now, payload, frameNumber) => {
    side.send(payload.slice());
    if (side.isLogged) side.log(now, 'sent', { frame: frameNumber, bytes: payload.length });
  },
  lostFrame: () => undefined,
  key: (_now, digit) => side.send(`key:${digit}`),
  message: (now, data) => {
    if (typeof data !== 'string') side.play(now, data);
    else if (data === 'clear') side.clear(now);
    else if (data === 'turn_end') side.turnEnded(now);
    else if (data.startsWith('mark:')) side.mark(now, () => side.send(data));
  },
  stop: () => side.send('stop'),
});
