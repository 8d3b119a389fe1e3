import type { InProcessMediaAgentFactory } from '../../../../../libs/simulation/index.js';
import { Delivery, type DeliveryStyle } from '../../../../../libs/simulation/testing/deliveries.js';
import { mediaMessage, readTwilioMessage } from '../../../twilio/twilio-messages.js';

/** The same agent on a media stream of Twilio whose platform sends its audio in a style. */
export const delivered =
  (agentOf: InProcessMediaAgentFactory, style: DeliveryStyle): InProcessMediaAgentFactory =>
  (socket) => {
    let streamSid = '';
    const send = (what: string | Uint8Array) =>
      socket.send(typeof what === 'string' ? what : mediaMessage(streamSid, what));
    const delivery = new Delivery(style, send);
    const agent = agentOf({
      send: (data) => {
        const { event, media } = JSON.parse(data as string) as { event: string; media?: { payload: string } };
        if (media) return delivery.say(Buffer.from(media.payload, 'base64'));
        if (event !== 'clear') return delivery.note(data as string);
        delivery.clear();
        socket.send(data);
      },
      close: (...closing) => socket.close(...closing),
    });
    return {
      onMessage: (now, data) => {
        const message = readTwilioMessage(data as string);
        if (message?.event === 'start') ({ streamSid } = message);
        agent.onMessage(now, data);
      },
      tick: (now) => {
        agent.tick(now);
        if (streamSid !== '') delivery.tick(now);
      },
      onClose: (now) => agent.onClose?.(now),
    };
  };
