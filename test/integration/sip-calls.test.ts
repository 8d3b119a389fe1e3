import tls from 'node:tls';
import { wavHeader } from '../../libs/audio/index.js';
import { OutboundClient } from '../../libs/outbound-http/index.js';
import {
  CallFailure,
  mediaThreads,
  PROTOCOLS,
  requestThreads,
  transportTo,
  type VoiceTransport,
} from '../../libs/simulation/index.js';
import { callHere, collected, planOf, say, speech } from '../../libs/simulation/testing/sip.js';
import { Baresip } from '../support/baresip.js';
import { describeWith } from '../support/programs.js';
import { accept, freePort, INVITED, PCMU, recv, request, respond, startSipp, type Step } from '../support/sipp.js';

const END = { type: 'end', reason: 'done' } as const;
/** Half a second of silence, a second of audio, and silence. */
const SOUND = Buffer.concat([Buffer.alloc(8_000), Buffer.from(speech(1_000).buffer), Buffer.alloc(160_000)]);
const SAID = Buffer.concat([wavHeader({ encoding: 'pcm16', rate: 8_000, channels: 1 }, SOUND.length), SOUND]);

afterAll(() => Promise.all([mediaThreads.close(), requestThreads.close()]));

describeWith('baresip', 'A call to baresip', () => {
  let baresip: Baresip;
  afterEach(async () => {
    jest.restoreAllMocks();
    await baresip.stop();
  });

  it('hears it to the sample, hangs up, and keeps the messages without the number that called', async () => {
    baresip = await Baresip.start({ says: SAID });
    const transport = transportTo(
      {
        ...{ protocol: 'sip', url: `sip:agent@127.0.0.1:${baresip.port}`, headers: {}, firstSpeaker: 'agent' as const },
        ...{ options: {}, line: { caller: '+12025550177' } },
      },
      {
        client: new OutboundClient({ allowedNetworks: ['127.0.0.0/8'] }),
        ...{ assistantId: 'a-1', phoneNumber: '', workspaceId: 'w-1', callId: 'c-1' },
        variables: { 'account-no': 17 },
      },
    ) as VoiceTransport;
    const { sink, wire } = collected();
    const { agent, end, platformEvents } = await transport.call({
      plan: planOf([say(400), END], { turnEndMs: 300, patienceMs: 1_500 }),
      recording: sink,
      signal: new AbortController().signal,
    });
    expect(agent).toHaveLength(1);
    expect(agent[0]!.endMs - agent[0]!.startMs).toBeCloseTo(1_000, -1);
    expect(end).toMatchObject({ by: 'caller', code: 'agent_silent' });
    expect(platformEvents.map(({ detail }) => detail).join()).toMatch(/It rang: .*,To the edge of the other side/);
    const log = wire.join('\n');
    expect(log).toContain('X-account-no: 17');
    expect(log).toContain('X-Vat-Call: c-1');
    expect(log).toMatch(
      /"direction":"sent","message":\{"sip":"BYE [\s\S]*"direction":"received","message":\{"sip":"SIP\/2\.0 200 /,
    );
    expect(log).toContain('+*********77');
    expect(log).not.toContain('2025550177');
    expect(baresip.output).toContain('terminated');
  }, 30_000);

  it('over TLS and SRTP is heard both ways, and the log has no key', async () => {
    baresip = await Baresip.start({ says: SAID, account: ';mediaenc=srtp-mand' });
    const { createSecureContext } = tls;
    jest
      .spyOn(tls, 'createSecureContext')
      .mockImplementation((options) => createSecureContext({ ...options, ca: baresip.certificate }));
    const { sink, wire } = collected();
    const { facts } = callHere(`sip:agent@127.0.0.1:${baresip.port + 1};transport=tls`, {
      endpoint: { options: { srtp: 'require' } },
      recording: sink,
    });
    const { agent, wireFindings } = await facts;
    expect(agent).toHaveLength(1);
    // What it plays is a tone.
    expect(wireFindings.map(({ code }) => code)).toEqual(['answered_by_machine_possible']);
    expect(baresip.output).toContain('SRTP is Enabled');
    expect(wire.join('\n')).toContain('inline: ***');
    expect(wire.join('\n')).not.toMatch(/inline:[A-Za-z0-9]/);
  }, 30_000);

  it('presses keys that arrive as events', async () => {
    baresip = await Baresip.start({ says: SAID });
    const { facts } = callHere(`sip:agent@127.0.0.1:${baresip.port}`, {
      plan: planOf([{ type: 'press', keys: '4*' }, { type: 'wait', ms: 500 }, END], { firstSpeaker: 'caller' }),
    });
    expect((await facts).wireFindings.map(({ code }) => code)).toEqual(['answered_by_machine_possible']);
    expect(baresip.output).toMatch(/4[\s\S]*\*/);
  }, 30_000);
});

const RINGS = [INVITED, respond('180 Ringing')];
const ANSWERED = [...RINGS, respond('200 OK', { media: PCMU }), recv('ACK')];
const ENDED = [recv('BYE'), accept()];

/** Calls SIPp, which executes these steps. */
async function callSipp(steps: readonly Step[], more: Parameters<typeof callHere>[1] = {}) {
  const sipp = await startSipp(steps, ['-mp', '40000', '-rtp_echo']);
  const { facts, stored } = callHere(`sip:agent@127.0.0.1:${sipp.port}`, more);
  const result = await facts.then(
    (found) => found,
    (error: unknown) => {
      if (error instanceof CallFailure) return error.failure;
      throw error;
    },
  );
  const { code, output } = await sipp.done;
  expect(code === 0 ? 'as expected' : output).toBe('as expected');
  return { result, stored };
}

describeWith('sipp', 'A call to SIPp', () => {
  it.each([
    ['486 Busy Here', 'busy', true],
    ['600 Busy Everywhere', 'busy', true],
    ['480 Temporarily Unavailable', 'no_answer', true],
    ['408 Request Timeout', 'no_answer', true],
    ['404 Not Found', 'platform_refused', false],
    ['410 Gone', 'platform_refused', false],
    ['484 Address Incomplete', 'platform_refused', false],
    ['604 Does Not Exist Anywhere', 'platform_refused', false],
    ['403 Forbidden', 'platform_refused', false],
    ['488 Not Acceptable Here', 'codec_refused', false],
    ['606 Not Acceptable', 'codec_refused', false],
    ['500 Server Internal Error', 'connection_failed', true],
    ['503 Service Unavailable', 'platform_busy', true],
    ['504 Server Time-out', 'connection_failed', true],
    ['302 Moved Temporarily', 'redirected', false],
  ])('that answers %s is an error "%s", and nothing is left to end', async (status, code, retryable) => {
    const lines = ['Retry-After: 7', 'Contact: <sip:far@127.0.0.1>'];
    const { result, stored } = await callSipp([INVITED, respond(status, { lines }), recv('ACK')]);
    expect(result).toMatchObject({ code, retryable, fault: 'infrastructure', retryAfterMs: 7_000 });
    expect((result as { message: string }).message).toContain(`SIP ${status.slice(0, 3)}`);
    expect(stored.map(({ ended }) => ended)).toEqual([undefined, true]);
  });

  it.each([
    ['no G.711', respond('200 OK', { media: 'm=audio 40000 RTP/AVP 9' }), 'codec_refused'],
    [
      'media at an address that must not be reached',
      respond('200 OK', { media: `${PCMU}\nc=IN IP4 169.254.169.254` }),
      'address_refused',
    ],
  ])('that answers with %s is ended', async (_, answer, code) => {
    const { result } = await callSipp([...RINGS, answer, recv('ACK'), ...ENDED]);
    expect(result).toMatchObject({ code, fault: 'infrastructure' });
  });

  it('that hangs up says why, and the call ends when it did', async () => {
    const bye = request('BYE', 1, { lines: ['Reason: SIP;cause=200;text="done"'] });
    const { result, stored } = await callSipp([...ANSWERED, bye, recv('200')]);
    expect(result).toMatchObject({ end: { by: 'agent', code: 'agent_hung_up', reason: 'The agent hung up: done' } });
    expect(stored.at(-1)).toMatchObject({ ended: true });
  });

  it('that transfers the call ends it as transferred, after a hold', async () => {
    const hold = request('INVITE', 1, { media: `${PCMU}\na=sendonly` });
    const refer = request('REFER', 2, { lines: ['Refer-To: <sip:+4930123456@example.org>'] });
    const { result } = await callSipp([
      ...[...ANSWERED, hold, recv('200'), request('ACK', 1), refer, recv('202')],
      ...[recv('NOTIFY'), accept(), ...ENDED],
    ]);
    expect(result).toMatchObject({
      end: { by: 'agent', reason: 'The agent transferred the call to +4930123456' },
      platformEvents: expect.arrayContaining([
        expect.objectContaining({ type: 'transfer', detail: '+4930123456' }),
        expect.objectContaining({ type: 'note', detail: 'The agent put the call on hold' }),
      ]) as unknown,
    });
  });

  it('that a run gives up while it rings is cancelled', async () => {
    const over = new AbortController();
    setTimeout(() => over.abort(new CallFailure('interrupted')), 3_000);
    const { result, stored } = await callSipp(
      [...RINGS, recv('CANCEL'), accept(), respond('487 Request Terminated', { cseq: '1 INVITE' }), recv('ACK')],
      { signal: over.signal },
    );
    expect(result).toMatchObject({ code: 'interrupted' });
    expect(stored.at(-1)).toMatchObject({ ended: true });
  });

  it('whose packets cease without BYE is an error of the line', async () => {
    const { result } = await callSipp(
      [...RINGS, respond('200 OK', { media: PCMU.replace('40000', '40500') }), recv('ACK'), ...ENDED],
      { plan: planOf([{ type: 'wait', ms: 30_000 }], { firstSpeaker: 'caller' }) },
    );
    expect(result).toMatchObject({ failure: { code: 'line_lost', fault: 'infrastructure' } });
  }, 40_000);

  it('is not ended a second time, and an end that cannot be sent is reported', async () => {
    const port = await freePort();
    const address = { user: 'agent', host: '127.0.0.1', port, transport: 'tcp' };
    const handle = {
      ...{ address, callId: 'call-1', fromTag: 'ours', from: 'sip:vat@127.0.0.1', to: 'sip:agent@127.0.0.1', cseq: 1 },
      ...{ branch: 'z9hG4bK1', via: '127.0.0.1:5999', target: `sip:agent@127.0.0.1:${port};transport=tcp` },
      ...{ toTag: 'far', routeSet: [] },
    };
    const request = {
      endpoint: {
        protocol: 'sip',
        url: `sip:agent@127.0.0.1:${port}`,
        headers: {},
        firstSpeaker: null,
        options: {},
      },
      client: new OutboundClient({ allowedNetworks: ['127.0.0.0/8'] }),
      signal: new AbortController().signal,
    };
    const { end } = PROTOCOLS.of('sip');
    await expect(end!({ ...handle, ended: true }, request)).resolves.toBeUndefined();
    await expect(end!(handle, request)).rejects.toThrow('Could not connect');
  });

  it('is not made with a variable that cannot be a header', async () => {
    const { facts } = callHere('sip:agent@127.0.0.1:5999', { call: { variables: { note: 'a\r\nTo: <sip:other>' } } });
    await expect(facts).rejects.toThrow('the variable "note" has a control character');
  });
});
