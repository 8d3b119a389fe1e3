import { type CallEvents, SipCall } from './call.js';
import { SipEndpoint } from './endpoint.js';
import { mediaOffer } from './sdp.js';
import { ANSWER, CONTACT, FarSide, requestIn } from './testing/far-side.js';

const OFFER = mediaOffer({ address: '127.0.0.1', port: 40_002, session: 7 });
const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

async function answered(events: CallEvents) {
  const farSide = await FarSide.open((request, reply) => {
    if (request.method === 'INVITE') reply(request.reply('200 OK', [CONTACT], ANSWER));
  });
  open.push(farSide);
  const endpoint = await SipEndpoint.open(farSide.options);
  open.push(endpoint);
  await new SipCall(endpoint, { target: farSide.address, offer: OFFER }, events).result;
  const invite = await farSide.until('INVITE');
  await farSide.until('ACK');
  const send = (text: string): void => void farSide.sockets[0]?.write(text);
  return { farSide, invite, send };
}

describe('requests of the other side within a call', () => {
  // RFC 3326 and Q.850: a carrier that lost the call says so; the agent has not hung up then.
  it.each([
    ['Q.850;cause=41;text="Temporary Failure"', 'network'],
    ['Q.850 ;cause=102', 'network'],
    ['SIP;cause=408;text="Session timeout"', 'network'],
    // versatica/JsSIP#233.
    ['SIP ;cause=200; text="RTP Timeout"', 'network'],
    ['SIP;cause=200;text="Call completed elsewhere"', 'other side'],
    ['Q.850;cause=16;text="Normal Clearing"', 'other side'],
  ])('that end it with the Reason %s come from the %s', async (reason, by) => {
    const ends = jest.fn();
    const { send, invite, farSide } = await answered({ ended: ends });
    send(requestIn(invite, 'BYE', 1, [`Reason: ${reason}`]));
    await farSide.until('200');
    expect(ends).toHaveBeenCalledWith(by, expect.any(String));
  });

  it('reports hold, and answers in the old form of it with our own address', async () => {
    const media = jest.fn(() => true);
    const { send, invite, farSide } = await answered({ media });
    send(requestIn(invite, 'INVITE', 1, [CONTACT], ANSWER.replace('c=IN IP4 127.0.0.1', 'c=IN IP4 0.0.0.0')));
    expect((await farSide.until('200')).text).toContain('c=IN IP4 127.0.0.1');
    expect(media).toHaveBeenCalledWith(expect.objectContaining({ hold: true }));
  });

  // livekit/sip#779: carriers end a call whose hold is answered by sendrecv; the agent has not hung up then.
  it('answers a hold by recvonly, and the end of a hold without a description by all that we can', async () => {
    const { send, invite, farSide } = await answered({ media: () => true });
    send(requestIn(invite, 'INVITE', 1, [CONTACT], `${ANSWER}a=sendonly\r\n`));
    const held = await farSide.until('200');
    expect(held.text).toContain('a=recvonly\r\n');
    expect(held.text).toContain('o=- 7 2 IN');
    send(requestIn(invite, 'ACK', 1, [CONTACT]));
    send(requestIn(invite, 'INVITE', 2, [CONTACT]));
    const resumed = await farSide.until('200', 2);
    expect(resumed.text).toContain(OFFER.replace('o=- 7 1', 'o=- 7 3'));
  });

  // baresip/baresip#3533: conferences add video within a call. RFC 3264, section 6: an answer has all lines of its offer.
  it('refuses video that is added within a call, and keeps the sound', async () => {
    const { send, invite, farSide } = await answered({ media: () => true });
    send(requestIn(invite, 'INVITE', 1, [CONTACT], `${ANSWER}m=video 5000 RTP/AVP 96\r\n`));
    expect((await farSide.until('200')).text.match(/^m=\S+ \d+/gm)).toEqual(['m=audio 40002', 'm=video 0']);
  });
});
