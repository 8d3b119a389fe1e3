import { encodeMulaw } from '../../../audio/index.js';
import { shareOf } from '../../../statistics/testing/sample.js';
import { SEND_LIMITS } from '../../other-side/send-limits.js';
import { rawWire } from '../testing/raw-wire.js';
import { callOf, collected, planOf, say, speech } from '../testing/virtual-calls.js';
import type { InProcessSocket } from './in-process-agent.js';
import { MediaCall } from './media-call.js';

const WAITING = planOf([], { firstSpeaker: 'agent', maxDurationSeconds: 3_600 });
const MIB = 1024 * 1024;

const sending = (each: (socket: InProcessSocket, now: number) => void) => (socket: InProcessSocket) => ({
  onMessage: () => undefined,
  tick: (now: number) => each(socket, now),
});

/** Sends once, at 500 ms. */
const once = (send: (socket: InProcessSocket) => void) =>
  sending((socket, now) => {
    if (now === 500) send(socket);
  });

const times = (count: number, send: () => void) => {
  for (let n = 0; n < count; n++) send();
};

describe('a call of an agent that sends too much', () => {
  it.each<[string, string | Uint8Array, string]>([
    ['marks', 'mark:x', 'marks'],
    ['clears', 'clear', 'clears'],
    ['empty messages', '', 'other messages without new audio'],
    ['messages of one byte', Uint8Array.of(0xff), 'messages with less than 5 ms of audio'],
  ])('ends with the counts by kind: %s', async (_name, message, kind) => {
    const facts = await callOf(
      WAITING,
      once((socket) => times(SEND_LIMITS.bucket.size + 1, () => socket.send(message))),
    );
    expect(facts.failure).toMatchObject({ code: 'answer_too_large' });
    expect(facts.failure!.message).toContain(`10,001 ${kind}`);
    expect(facts.end).toMatchObject({ by: 'tester', code: 'failure', atMs: 500 });
  });

  it('counts control and continuation frames with the messages', () => {
    const call = new MediaCall(WAITING, rawWire, { send: () => undefined });
    call.start(0);
    call.onFrames(10, 'control', 6_000);
    call.onFrames(10, 'continuation', 4_000);
    expect(call.isOver).toBe(false);
    call.onMessage(10, 'clear');
    expect(call.facts().failure!.message).toContain('6,000 control frames, 4,000 continuation frames, 1 clear');
  });

  it('ends when more bytes arrived than the line plays in twice the time of the call and ten more minutes', async () => {
    // Half a minute of the 16-bit line of the raw wire in each message.
    const part = encodeMulaw(new Int16Array(30 * 16_000));
    const facts = await callOf(
      WAITING,
      sending((socket) => socket.send(part)),
    );
    expect(facts.failure!.message).toMatch(
      /^The agent's response is too large: [\d,]+ bytes, where [\d,]+ were allowed/,
    );
  });

  it('continues with an honest agent that repeatedly sends a minute in 12,000 messages at once', async () => {
    const message = encodeMulaw(speech(5));
    const facts = await callOf(
      { ...WAITING, maxDurationSeconds: 600 },
      sending((socket, now) => {
        if (now % 60_000 === 0) times(12_000, () => socket.send(message));
      }),
    );
    expect(facts.failure).toBeUndefined();
    expect(facts.end.code).toBe('max_duration');
  });

  it('can also end before it has begun', () => {
    const call = new MediaCall(WAITING, rawWire, { send: () => undefined });
    times(10_001, () => call.onMessage(0, 'clear'));
    call.start(1);
    expect(call.failure ?? call.facts().failure).toMatchObject({ code: 'answer_too_large' });
  });

  it('does not count unread parts of a flood as stalls of the tester', () => {
    const call = new MediaCall(WAITING, rawWire, { send: () => undefined });
    call.start(0);
    call.tick(100);
    call.onPaused(100, 120);
    call.onFrames(130, 'control', 10_001);
    expect(call.facts().timing.stalls.filter(({ at }) => at === 100)).toEqual([]);
  });

  it('counts the time without reading as a stall if the agent stayed within the limits', () => {
    const call = new MediaCall(WAITING, rawWire, { send: () => undefined });
    call.start(0);
    for (let now = 20; now <= 200; now += 20) call.tick(now);
    call.onPaused(100, 121);
    call.onClose(200, { code: 1000, reason: '' });
    expect(call.facts().timing.stalls).toEqual([{ at: 100, ms: 21 }]);
  });

  it('reports a broken connection as a finding and ends', () => {
    const call = new MediaCall(WAITING, rawWire, { send: () => undefined });
    call.start(0);
    for (let now = 20; now <= 200; now += 20) call.tick(now);
    call.onBroken(200, 'Invalid WebSocket frame: MASK must be clear');
    const { end, failure, wireFindings } = call.facts();
    expect(end).toMatchObject({ code: 'failure', atMs: 200 });
    expect(failure!.code).toBe('connection_lost');
    expect(wireFindings).toMatchObject([{ code: 'broken_websocket', severity: 'error', atMs: 200 }]);
  });

  it('keeps the observations before a message that is too large', async () => {
    const call = new MediaCall(planOf([say(500)]), rawWire, { send: () => undefined });
    call.start(0);
    call.onMessage(0, encodeMulaw(speech(1_000)));
    for (let now = 20; now <= 3_000; now += 20) call.tick(now);
    call.onBroken(3_000, 'one message is larger than 8 MiB', 'answer_too_large');
    const { agent, answeredTurns, end, failure, wireFindings } = call.facts();
    expect(agent).toMatchObject([{ endMs: expect.closeTo(1_000, 0) }]);
    expect(answeredTurns).toBe(1);
    expect(end).toMatchObject({ by: 'tester', code: 'failure', atMs: 3_000 });
    expect(failure!.code).toBe('answer_too_large');
    expect(wireFindings).toMatchObject([{ code: 'broken_websocket', detail: expect.stringContaining('8 MiB') }]);
  });

  it('keeps no more of a flood of one-byte messages than its audio needs', () => {
    const { sink } = collected();
    const call = new MediaCall(WAITING, rawWire, { send: () => undefined, recording: sink });
    call.start(0);
    let [now, most] = [0, 0];
    const byte = Uint8Array.of(0x80);
    for (let n = 0; n < 10_000 + shareOf(480_000); n++) {
      if (n >= 10_000 && n % 4 === 0) call.tick((now += 20));
      call.onMessage(now, byte);
      most = Math.max(most, call.bytes);
    }
    expect(call.isOver).toBe(false);
    // 40 minutes in CI: in 20 ms one arrival of 28 bytes and one gap of 24, and not one for each message.
    const seconds = now / 1_000;
    expect(most).toBeLessThan(seconds * 50 * (28 + 24) * 1.25 + MIB);
    call.abort(now);
  });

  it('ends when it would have to keep more than 16 MiB', () => {
    const call = new MediaCall(WAITING, rawWire, { send: () => undefined });
    call.start(0);
    call.onMessage(0, encodeMulaw(speech(60_000)));
    const name = `mark:${'x'.repeat(2_000)}`;
    times(9_000, () => call.onMessage(0, name));
    expect(call.facts().failure!.message).toContain('more than 16 MiB of it waited');
  });
});
