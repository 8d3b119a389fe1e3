import fc from 'fast-check';
import { agentSound, bargeIn, factsOf, line } from '../../../voice/testing/facts.js';
import { TWILIO_FINDINGS } from './findings.js';
import { readMessage } from './messages.js';
import twilioWire from './wire.js';
import { FakeSide } from './testing/fake-side.js';
import { silence } from '../../../testing/telephone-sounds.js';

const STREAM = {
  accountSid: `AC${'0'.repeat(32)}`,
  callSid: `CA${'1'.repeat(32)}`,
  streamSid: `MZ${'2'.repeat(32)}`,
  customParameters: { tenant: 'bella-vista', token: 'agent-token-123' },
  secrets: ['agent-token-123'],
};

function opened() {
  const side = new FakeSide();
  const wire = twilioWire(STREAM)(side);
  wire.open(0);
  const say = (now: number, message: object) => {
    wire.message(now, JSON.stringify({ streamSid: STREAM.streamSid, ...message }));
  };
  const media = (now: number, sound: Uint8Array, more: object = {}) =>
    say(now, { event: 'media', media: { payload: Buffer.from(sound).toString('base64') }, ...more });
  return { side, wire, say, media };
}

describe('twilioWire', () => {
  it('sends connected and start as Twilio does', () => {
    const { side } = opened();
    expect(side.sent).toEqual([
      { event: 'connected', protocol: 'Call', version: '1.0.0' },
      {
        event: 'start',
        sequenceNumber: '1',
        start: {
          accountSid: STREAM.accountSid,
          streamSid: STREAM.streamSid,
          callSid: STREAM.callSid,
          tracks: ['inbound'],
          mediaFormat: { encoding: 'audio/x-mulaw', sampleRate: 8000, channels: 1 },
          customParameters: STREAM.customParameters,
        },
        streamSid: STREAM.streamSid,
      },
    ]);
  });

  it('numbers start, media, dtmf, mark and stop together, and chunks by themselves', () => {
    const { side, wire, say } = opened();
    wire.frame(20, new Int16Array(160), 0);
    wire.key!(30, '#');
    say(35, { event: 'mark', mark: { name: 'a' } });
    wire.frame(40, new Int16Array(160), 1);
    wire.stop(50);
    const [, , ...rest] = side.sent;
    const payload = Buffer.alloc(160, 0xff).toString('base64');
    const { streamSid, accountSid, callSid } = STREAM;
    expect(rest).toEqual([
      {
        event: 'media',
        sequenceNumber: '2',
        media: { track: 'inbound', chunk: '1', timestamp: '0', payload },
        streamSid,
      },
      { event: 'dtmf', streamSid, sequenceNumber: '3', dtmf: { track: 'inbound_track', digit: '#' } },
      { event: 'mark', sequenceNumber: '4', streamSid, mark: { name: 'a' } },
      {
        event: 'media',
        sequenceNumber: '5',
        media: { track: 'inbound', chunk: '2', timestamp: '20', payload },
        streamSid,
      },
      { event: 'stop', sequenceNumber: '6', stop: { accountSid, callSid }, streamSid },
    ]);
  });

  it('shows a lost packet as a jump of the timestamp and never as a missing number', () => {
    const { side, wire } = opened();
    wire.frame(20, new Int16Array(160), 0);
    wire.frame(60, new Int16Array(160), 2);
    expect(
      side.sentOf('media').map(({ sequenceNumber, media }) => [sequenceNumber, media.chunk, media.timestamp]),
    ).toEqual([
      ['2', '1', '0'],
      ['3', '2', '40'],
    ]);
  });

  it('plays sound and sends a mark back when everything before it has been played', () => {
    const { side, say, media } = opened();
    media(100, silence(60));
    say(110, { event: 'mark', mark: { name: 'end' } });
    side.advance(159);
    expect(side.sentOf('mark')).toEqual([]);
    side.advance(160);
    expect(side.sentOf('mark').map(({ mark }) => mark.name)).toEqual(['end']);
  });

  it('sends all pending marks back on clear', () => {
    const { side, say, media } = opened();
    media(0, silence(500));
    say(0, { event: 'mark', mark: { name: 'a' } });
    say(0, { event: 'mark', mark: { name: 'b' } });
    say(100, { event: 'clear' });
    expect(side.sentOf('mark').map(({ mark }) => mark.name)).toEqual(['a', 'b']);
    expect(side.bufferedMs(100)).toBe(0);
  });

  it('ignores everything after stop', () => {
    const { side, wire, say, media } = opened();
    media(0, silence(100));
    say(0, { event: 'mark', mark: { name: 'a' } });
    wire.stop(50);
    media(60, silence(20));
    side.advance(200);
    wire.stop(210);
    expect(side.played).toHaveLength(1);
    expect(side.sent.at(-1)?.event).toBe('stop');
    expect(side.sentOf('stop')).toHaveLength(1);
  });

  it.each([
    ['a foreign streamSid', `MZ${'3'.repeat(32)}`],
    ['no streamSid', undefined],
    ['a streamSid that is a number', 5],
  ])('ignores messages with %s', (_name, streamSid) => {
    const { side, say, media } = opened();
    media(0, silence(500));
    media(10, silence(20), { streamSid });
    say(10, { event: 'mark', mark: { name: 'a' }, streamSid });
    say(10, { event: 'clear', streamSid });
    side.advance(1_000);
    expect(side.played).toHaveLength(1);
    expect(side.bufferedMs(10)).toBe(490);
    expect(side.sentOf('mark')).toEqual([]);
    expect(side.codes).toEqual(['wrong_stream_sid', 'wrong_stream_sid', 'wrong_stream_sid']);
  });

  it('does not send a mark without a name back', () => {
    const { side, say } = opened();
    for (const mark of [{}, { name: '' }, undefined]) say(0, { event: 'mark', mark });
    expect(side.sentOf('mark')).toEqual([]);
    expect(side.codes).toEqual(['mark_without_name', 'mark_without_name', 'mark_without_name']);
  });

  it('sends a mark with a number for its name back with the number as text, and says so', () => {
    const { side, say } = opened();
    say(0, { event: 'mark', mark: { name: 7 } });
    expect(side.sentOf('mark').map(({ mark }) => mark.name)).toEqual(['7']);
    expect(side.findings).toMatchObject([{ code: 'mark_name_not_text', severity: 'warning' }]);
  });

  // Buffer.from of Node and b64decode of Python read all of them; GetStream/Vision-Agents#621, openclaw/openclaw#106528.
  it.each([
    ['line breaks (encodebytes of Python)', (text: string) => text.replace(/.{76}/g, '$&\n').concat('\n')],
    ['the alphabet for URLs', (text: string) => text.replaceAll('+', '-').replaceAll('/', '_')],
    ['no padding', (text: string) => text.replace(/=+$/, '')],
  ])('plays base64 with %s, and says that Twilio may refuse it', (_name, form) => {
    const sound = Uint8Array.from({ length: 161 }, (_, n) => 0xff - (n % 8));
    const { side, say } = opened();
    say(0, { event: 'media', media: { payload: form(Buffer.from(sound).toString('base64')) } });
    expect(side.played).toHaveLength(1);
    expect(side.played[0]).toHaveLength(161);
    expect(side.findings).toMatchObject([{ code: 'unusual_base64', severity: 'warning' }]);
  });

  it('refuses what is not base64 in linear time', () => {
    const { side, say } = opened();
    say(0, { event: 'media', media: { payload: `AAAA${' '.repeat(4_000_000)}*` } });
    expect(side.codes).toEqual(['invalid_message']);
  });

  // openclaw/openclaw#65601, elevenlabs-docs#519: on Twilio the call goes on in the TwiML, whatever the code is.
  it.each([
    ['4000 is a hang-up', 4_000, true, ['agent_hung_up'], []],
    ['4000 without a sound is a hang-up', 4_000, false, ['agent_hung_up'], []],
    ['1006 after a sound is not known to be one', 1_006, true, ['connection_closed'], ['closed_abnormally']],
    ['1011 after a sound is not known to be one', 1_011, true, ['connection_closed'], ['closed_abnormally']],
    ['1011 without a sound is left to the call', 1_011, false, [], []],
    ['1000 is left to the call', 1_000, true, [], []],
  ] as const)('the close code %s', (_name, code, isHeard, ends, findings) => {
    const { side, wire, media } = opened();
    if (isHeard) media(0, silence(20));
    wire.closed!(100, code, 'bye');
    expect([side.ends, side.codes]).toEqual([ends, findings]);
  });

  it.each<[string, string | Uint8Array, string]>([
    ['bytes', new Uint8Array([1, 2, 3]), 'binary_frame'],
    ['no JSON', '{"event":', 'invalid_message'],
    ['a JSON array', '[]', 'invalid_message'],
    ['null', 'null', 'invalid_message'],
    ['no event', '{}', 'invalid_message'],
    ['media without a payload', '{"event":"media","media":{"playload":"AAAA"}}', 'invalid_message'],
    ['media that is not an object', '{"event":"media","media":"AAAA"}', 'invalid_message'],
    ['a payload that is not base64', '{"event":"media","media":{"payload":"*"}}', 'invalid_message'],
    ['a payload that is a list', '{"event":"media","media":{"payload":[1]}}', 'invalid_message'],
    ['a name that is an object', '{"event":"mark","mark":{"name":{}}}', 'invalid_message'],
    [
      'a name of 2,000 characters',
      JSON.stringify({ event: 'mark', mark: { name: 'x'.repeat(2_000) } }),
      'invalid_message',
    ],
    ['an event of 8 MB', JSON.stringify({ event: 'x'.repeat(8_000_000) }), 'unknown_event'],
    ['deep nesting', '['.repeat(100_000), 'invalid_message'],
    ['another event', '{"event":"response.audio.delta"}', 'unknown_event'],
  ])('reports %s and goes on', (_name, data, code) => {
    const { side, wire, media } = opened();
    wire.message(0, data);
    expect(side.codes).toEqual([code]);
    media(10, silence(20));
    expect(side.played).toHaveLength(1);
  });

  it('shows the beginning of a long name, and never a secret', () => {
    const { side, wire } = opened();
    wire.message(0, JSON.stringify({ event: `agent-token-123 ${'x'.repeat(900)}` }));
    const { detail } = side.findings[0]!;
    expect(detail).not.toContain('agent-token-123');
    expect(detail).toContain(' xxx');
    expect(detail.length).toBeLessThan(250);
  });

  it('reports no fault for a healthy agent', () => {
    const { side, say, media } = opened();
    for (let n = 0; n < 50; n++) media(n * 20, silence(20));
    say(1_000, { event: 'mark', mark: { name: 'x' } });
    say(1_100, { event: 'clear' });
    media(2_000, silence(5_000));
    expect(side.codes).toEqual([]);
  });

  it('reports faults of the sound', () => {
    const { side, media } = opened();
    media(0, Buffer.concat([Buffer.from('RIFF....WAVE'), silence(20, 0x00), silence(20)]));
    expect(side.codes).toEqual(['file_header_in_media', 'wrong_silence']);
  });

  it('discards what exceeds ten minutes', () => {
    const { side, media } = opened();
    media(0, silence(599_990));
    media(0, silence(100));
    media(0, silence(100));
    expect(side.bufferedMs(0)).toBe(600_000);
    expect(side.codes).toEqual(['media_discarded', 'media_discarded']);
    const whole = opened();
    whole.media(0, silence(660_000));
    expect(whole.side.findings).toMatchObject([{ detail: '660 s of sound arrived while 0 s were buffered' }]);
  });

  it('limits the marks that wait', () => {
    const { side, say, media } = opened();
    media(0, silence(500));
    for (let n = 0; n < 10_001; n++) say(0, { event: 'mark', mark: { name: 'x' } });
    expect(side.codes).toEqual(['invalid_message']);
    say(1, { event: 'clear' });
    expect(side.sentOf('mark')).toHaveLength(10_000);
  });

  it('logs length and hash of sound, and no secrets', () => {
    const { side, wire, say, media } = opened();
    wire.frame(20, new Int16Array(160), 0);
    media(20, silence(40));
    say(30, { event: 'mark', mark: { name: 'agent-token-123' } });
    wire.message(40, 'agent-token-123');
    media(50, silence(20), { streamSid: 'agent-token-123' });
    side.advance(1_000);
    const log = JSON.stringify([side.logged, side.findings]);
    expect(log).not.toContain('agent-token-123');
    expect(log).not.toContain(Buffer.alloc(20, 0xff).toString('base64'));
    const [sound] = side.logged.filter(({ direction, message }) => direction === 'received' && message.media);
    expect(sound?.message.media.payload).toEqual({ bytes: 320, sha256: expect.stringMatching(/^[0-9a-f]{16}$/) });
    // The agent itself gets what it asked for.
    expect(side.sent[1]?.start.customParameters).toEqual(STREAM.customParameters);
    expect(side.sentOf('mark')[0]?.mark.name).toBe('agent-token-123');
  });

  it('never throws, whatever arrives', () => {
    const json = fc.jsonValue({ maxDepth: 4 });
    const part = fc.record(
      { payload: fc.oneof(fc.base64String({ maxLength: 4_000 }), json), name: fc.oneof(fc.string(), json) },
      { requiredKeys: [] },
    );
    const message = fc.record(
      {
        event: fc.oneof(fc.constantFrom('media', 'mark', 'clear', 'stop', '__proto__'), json),
        streamSid: fc.oneof(fc.constant(STREAM.streamSid), json),
        media: fc.oneof(part, json),
        mark: fc.oneof(part, json),
      },
      { requiredKeys: [] },
    );
    const input = fc.oneof(
      message.map((value) => JSON.stringify(value)),
      json.map((value) => JSON.stringify(value)),
      fc.string({ unit: 'binary' }),
      fc.uint8Array(),
    );
    fc.assert(
      fc.property(fc.array(input, { maxLength: 20 }), (inputs) => {
        const { side, wire } = opened();
        inputs.forEach((data, index) => wire.message(index * 10, data));
        side.advance(1e6);
        wire.stop(1e6);
        const numbers = side.sent.slice(1).map(({ sequenceNumber }) => sequenceNumber as string);
        expect(numbers).toEqual(numbers.map((_, index) => String(index + 1)));
        expect(side.codes.every((code) => code in TWILIO_FINDINGS)).toBe(true);
      }),
      { numRuns: 500 },
    );
  });
});

describe('readMessage', () => {
  it('keeps the sound byte by byte', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 2_000 }), (sound) => {
        const payload = Buffer.from(sound).toString('base64');
        const read = readMessage(JSON.stringify({ event: 'media', streamSid: 'x', media: { payload } }));
        expect(read.event === 'media' && Buffer.from(read.sound).equals(Buffer.from(sound))).toBe(true);
      }),
    );
  });
});

describe('review', () => {
  const review = (facts: Parameters<typeof factsOf>[0]) =>
    twilioWire(STREAM)(new FakeSide()).review!(factsOf(facts)).map(({ code, atMs }) => [code, atMs]);
  const interrupted = bargeIn(5_000, 7_000, { bufferedMs: 800 });

  it('finds a buffer that was played to its end after a barge-in', () => {
    expect(review({ caller: [interrupted] })).toEqual([['no_clear_on_barge_in', 5_000]]);
    expect(review({ caller: [interrupted], clears: [{ atMs: 6_000, droppedMs: 0 }] })).toEqual([
      ['no_clear_on_barge_in', 5_000],
    ]);
  });

  it.each([
    ['the agent cleared it', { caller: [interrupted], clears: [{ atMs: 5_300, droppedMs: 500 }] }],
    [
      'the agent cleared what it had sent since',
      { caller: [interrupted], agent: [agentSound(3_000, 5_900)], clears: [{ atMs: 5_900, droppedMs: 600 }] },
    ],
    ['little was buffered', { caller: [bargeIn(5_000, 7_000, { bufferedMs: 499 })] }],
    ['the barge-in was not possible', { caller: [bargeIn(5_000, 7_000, { bufferedMs: 800, possible: false })] }],
    ['it was an ordinary line', { caller: [line(5_000, 7_000)] }],
    [
      'the call ended before',
      { caller: [interrupted], end: { by: 'agent', code: 'agent_hung_up', reason: '', atMs: 5_600 } as const },
    ],
  ])('finds nothing if %s', (_name, facts) => expect(review(facts as Parameters<typeof factsOf>[0])).toEqual([]));

  it('finds sound that follows a clear while the caller speaks', () => {
    const arrival = (arrivedMs: number) => ({ arrivedMs, playedFromMs: arrivedMs, playedToMs: arrivedMs + 20 });
    const facts = { caller: [interrupted], clears: [{ atMs: 5_300, droppedMs: 500 }] };
    expect(review({ ...facts, arrivals: [arrival(5_200), arrival(5_400)] })).toEqual([['media_after_clear', 5_400]]);
    expect(review({ ...facts, arrivals: [arrival(5_200), arrival(5_700)] })).toEqual([]);
  });

  it('takes no quadratic time for 100,000 clears with audio between them', () => {
    const times = Array.from({ length: 100_000 }, (_, n) => interrupted.startMs + n / 1_000);
    const arrivals = times.map((ms) => ({ arrivedMs: ms + 0.0005, playedFromMs: ms, playedToMs: ms }));
    const clears = times.map((atMs) => ({ atMs, droppedMs: 1 }));
    const before = performance.now();
    expect(review({ caller: [interrupted], clears, arrivals })).toHaveLength(100_000);
    expect(performance.now() - before).toBeLessThan(10_000);
  });
});
