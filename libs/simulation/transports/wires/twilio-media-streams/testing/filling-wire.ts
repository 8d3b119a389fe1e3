import { setTimeout as sleep } from 'node:timers/promises';
import type { WireEntry } from '../../../../voice/wire/wire.js';
import twilioWire from '../wire.js';

/** As the wire, but uses up the heap of its thread soon after the connection was opened. */
const filling: WireEntry<never> = (state) => (side) => {
  const wire = twilioWire(state)(side);
  void sleep(300).then(() => {
    const all: string[][] = [];
    for (;;) all.push(Array.from({ length: 10_000 }, (_, n) => `text ${n}`));
  });
  return wire;
};

export default filling;
