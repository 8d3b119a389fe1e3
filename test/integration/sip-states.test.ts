import {
  type CallAnswer,
  type CallEvents,
  type CallFailure,
  mediaOffer,
  SipCall,
  SipEndpoint,
} from '../../libs/sip/index.js';
import { connectByTcp } from '../../libs/sip/testing/far-side.js';
import { describeWith } from '../support/programs.js';
import { accept, INVITED, PCMU, recv, request, respond, startSipp, type Step } from '../support/sipp.js';

interface Options {
  readonly ringMs?: number;
  readonly srtp?: boolean;
  readonly events?: CallEvents;
  /** After the call was answered. */
  readonly then?: (call: SipCall) => Promise<unknown>;
}

/** Calls SIPp, which executes these steps, and gives the result of the call and whether SIPp saw what it expected. */
async function callSipp(steps: readonly Step[], { then, events, ...options }: Options = {}) {
  const sipp = await startSipp(steps);
  const address = { user: 'agent', host: '127.0.0.1', port: sipp.port, transport: 'tcp' as const };
  const credentials = { user: 'u', password: 'p' };
  const endpoint = await SipEndpoint.open({ connect: connectByTcp, address, userAgent: 'test', credentials });
  const srtpKey = options.srtp === true ? { srtpKey: Buffer.alloc(30, 1).toString('base64') } : {};
  const offer = mediaOffer({ address: '127.0.0.1', port: 40_002, session: 1, ...srtpKey });
  const call = new SipCall(endpoint, { target: address, offer, ...options }, events);
  const result: CallAnswer | CallFailure = await call.result;
  await then?.(call);
  const { code, output } = await sipp.done;
  endpoint.close();
  return { result, sipp: code === 0 ? 'as expected' : output };
}

const ANSWERED = [INVITED, respond('180 Ringing'), respond('200 OK', { media: PCMU }), recv('ACK')];
/** RFC 3515, 2.4.4. */
const TRANSFERRED = recv(
  'NOTIFY',
  [
    '<ereg regexp="refer" search_in="hdr" header="Event:" check_it="true" assign_to="1"/>',
    '<ereg regexp="^ *terminated" search_in="hdr" header="Subscription-State:" check_it="true" assign_to="1"/>',
    '<ereg regexp="SIP/2.0 200 OK" search_in="body" check_it="true" assign_to="1"/>',
  ].join(''),
);
const ENDED = [recv('BYE'), accept()];
const hangUp = (call: SipCall): Promise<unknown> => call.hangUp();

describeWith('sipp', 'A call to SIPp', () => {
  it.each([
    ['486 Busy Here', 'busy'],
    ['600 Busy Everywhere', 'busy'],
    ['480 Temporarily Unavailable', 'no_answer'],
    ['408 Request Timeout', 'no_answer'],
    ['404 Not Found', 'no_such_user'],
    ['410 Gone', 'no_such_user'],
    ['484 Address Incomplete', 'no_such_user'],
    ['604 Does Not Exist Anywhere', 'no_such_user'],
    ['403 Forbidden', 'refused'],
    ['488 Not Acceptable Here', 'codec_refused'],
    ['606 Not Acceptable', 'codec_refused'],
    ['500 Server Internal Error', 'unavailable'],
    ['503 Service Unavailable', 'unavailable'],
    ['504 Server Time-out', 'unavailable'],
    ['302 Moved Temporarily', 'redirected'],
  ])('that answers %s is "%s"', async (status, failure) => {
    const { result, sipp } = await callSipp([INVITED, respond(status), recv('ACK')]);
    expect(sipp).toBe('as expected');
    expect(result).toMatchObject({ failure, reason: status.slice(4), mayBeOpen: false });
  });

  it('that wants credentials gets them, and refuses them in its own words', async () => {
    const lines = ['WWW-Authenticate: Digest realm="sipp", nonce="47ebe028cda119c35d4877b383027d28", algorithm=MD5'];
    const refused = respond('403 Forbidden', { lines: ['X-Twilio-Error: 32202 no such user'] });
    const { result, sipp } = await callSipp([
      INVITED,
      respond('401 Unauthorized', { lines }),
      recv('ACK'),
      recv(
        'INVITE',
        '<ereg regexp="response=.[0-9a-f]{32}" search_in="hdr" header="Authorization:" check_it="true" assign_to="1"/>',
      ),
      refused,
      recv('ACK'),
    ]);
    expect(sipp).toBe('as expected');
    expect(result).toMatchObject({ failure: 'refused', status: 403, reason: '32202 no such user' });
  });

  it('that is answered ends by our BYE', async () => {
    const { result, sipp } = await callSipp([...ANSWERED, ...ENDED], { then: hangUp });
    expect(sipp).toBe('as expected');
    expect(result).toMatchObject({ media: { codec: 'PCMU', port: 40_000, eventPayloadType: 101 } });
  });

  it('that hangs up says why', async () => {
    const ended = jest.fn();
    const { sipp } = await callSipp(
      [...ANSWERED, request('BYE', 1, { lines: ['Reason: SIP;cause=200;text="done"'] }), recv('200')],
      {
        events: { ended },
      },
    );
    expect(sipp).toBe('as expected');
    expect(ended).toHaveBeenCalledWith('other side', 'done');
  });

  it('that does not answer in time is cancelled', async () => {
    const { result, sipp } = await callSipp(
      [
        INVITED,
        respond('180 Ringing'),
        recv('CANCEL'),
        accept(),
        respond('487 Request Terminated', { cseq: '1 INVITE' }),
        recv('ACK'),
      ],
      { ringMs: 100 },
    );
    expect(sipp).toBe('as expected');
    expect(result).toMatchObject({ failure: 'no_answer', mayBeOpen: false });
  });

  it('that answers while CANCEL is on its way is acknowledged and ended', async () => {
    const late = respond('200 OK', { media: PCMU, cseq: '1 INVITE' });
    const { result, sipp } = await callSipp(
      [INVITED, respond('180 Ringing'), recv('CANCEL'), accept(), late, recv('ACK'), ...ENDED],
      { ringMs: 100 },
    );
    expect(sipp).toBe('as expected');
    expect(result).toMatchObject({ failure: 'no_answer', mayBeOpen: false });
  });

  // RFC 3261, 16.7: a forking proxy passes on every 200, also after another final response.
  it('that says that it is cancelled and answers then is acknowledged and ended', async () => {
    const gone = respond('487 Request Terminated', { tag: 'one', cseq: '1 INVITE' });
    const late = respond('200 OK', { media: PCMU, tag: 'two', cseq: '1 INVITE' });
    const { result, sipp } = await callSipp(
      [INVITED, respond('180 Ringing'), recv('CANCEL'), accept(), gone, recv('ACK'), late, recv('ACK'), ...ENDED],
      { ringMs: 100 },
    );
    expect(sipp).toBe('as expected');
    expect(result).toMatchObject({ failure: 'no_answer', mayBeOpen: false });
  });

  it('that wants to transfer while it rings is refused, and answers then', async () => {
    const transfer = jest.fn();
    const { result, sipp } = await callSipp(
      [
        INVITED,
        respond('180 Ringing'),
        request('REFER', 1, { lines: ['Refer-To: <sip:+4930@example.org>'] }),
        recv('480'),
        respond('200 OK', { media: PCMU, cseq: '1 INVITE' }),
        recv('ACK'),
        ...ENDED,
      ],
      { events: { transfer }, then: hangUp },
    );
    expect(sipp).toBe('as expected');
    expect(result).toMatchObject({ media: { codec: 'PCMU' } });
    expect(transfer).not.toHaveBeenCalled();
  });

  it('that answers twice, as a fork does, is ended once', async () => {
    const fork = respond('200 OK', { media: PCMU, tag: 'other', cseq: '1 INVITE' });
    const first = respond('200 OK', { media: PCMU });
    const { result, sipp } = await callSipp([INVITED, first, recv('ACK'), fork, recv('ACK'), ...ENDED]);
    expect(sipp).toBe('as expected');
    expect(result).toMatchObject({ handle: { toTag: 'far' } });
  });

  it.each([
    ['no G.711', 'm=audio 40000 RTP/AVP 9', false],
    ['no SRTP though it is required', PCMU, true],
  ])('that answers with %s is ended as "codec_refused"', async (_, media, srtp) => {
    const { result, sipp } = await callSipp([INVITED, respond('200 OK', { media }), recv('ACK'), ...ENDED], { srtp });
    expect(sipp).toBe('as expected');
    expect(result).toMatchObject({ failure: 'codec_refused', mayBeOpen: false });
  });

  it('that transfers, holds and asks is answered', async () => {
    const transfer = jest.fn();
    const media = jest.fn();
    const { sipp } = await callSipp(
      [
        ...ANSWERED,
        request('OPTIONS', 1),
        recv('200'),
        request('INFO', 2),
        recv('200'),
        request('UPDATE', 3),
        recv('405'),
        request('INVITE', 4, { media: `${PCMU}\na=sendonly` }),
        recv('200'),
        request('ACK', 4),
        request('REFER', 5, { lines: ['Refer-To: <sip:+4930@example.org>'] }),
        recv('202'),
        TRANSFERRED,
        accept(),
        ...ENDED,
      ],
      { events: { transfer, media }, then: async (call) => void setTimeout(() => void call.hangUp(), 1_500) },
    );
    expect(sipp).toBe('as expected');
    expect(media).toHaveBeenCalledWith(expect.objectContaining({ hold: true }));
    expect(transfer).toHaveBeenCalledWith('<sip:+4930@example.org>');
  });
});
