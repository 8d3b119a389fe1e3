import { decodeMulaw, encodeMulaw } from '../../../audio/index.js';
import type { InProcessMediaAgentFactory } from '../call/in-process-agent.js';
import { Delivery, type DeliveryStyle } from './delivery.js';
import { speech } from './virtual-calls.js';

export interface DeliveryOptions {
  readonly style: DeliveryStyle;
  /** From the end of what it heard to its answer. */
  readonly delayMs: number;
  readonly answerMs: number;
}

/** An agent that answers each line of the caller. It hears by level, and sends in its style. */
export const delivering =
  ({ style, delayMs, answerMs }: DeliveryOptions): InProcessMediaAgentFactory =>
  (socket) => {
    const delivery = new Delivery(style, (what) => socket.send(what));
    let heardUntil: number | undefined;
    return {
      onMessage: (now, data) => {
        if (typeof data === 'string') return;
        if (decodeMulaw(data).some((sample) => Math.abs(sample) > 1_000)) heardUntil = now;
      },
      tick: (now) => {
        if (heardUntil !== undefined && now >= heardUntil + delayMs) {
          heardUntil = undefined;
          delivery.say(encodeMulaw(speech(answerMs)));
        }
        delivery.tick(now);
      },
    };
  };
