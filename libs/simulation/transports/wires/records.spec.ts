import type { KeptCall } from '../../../../test/simulators/records/kept-calls.js';
import { requestThreads } from '../protocols.js';
import {
  AGENT,
  ALL,
  ATTEMPT,
  booked,
  close,
  failureOf,
  HOUR,
  KEY,
  NOON,
  open,
  opened,
} from './testing/kept-records.js';

afterEach(close);
afterAll(() => requestThreads.close());

describe.each(ALL)('the records of calls of %s', (name) => {
  it('have words, tools, times, latencies, the caller and why the call ended', async () => {
    const { get } = await open(name, booked(0, { reason: 'caller-left', attempt: ATTEMPT.toUpperCase() }));
    // A part of a second is lost.
    const ms = (value: number, end = value) => (name === 'elevenlabs' ? value : end);
    const kind = { vapi: 'turn', retell: 'e2e', elevenlabs: 'convai_llm_service_ttfb' }[name];
    expect(await get('call_0')).toEqual({
      id: 'call_0',
      startedAt: NOON,
      endedAt: NOON + 41_000,
      said: [
        { speaker: 'agent', text: 'Good evening, Bella Vista.', startMs: 1_000, endMs: ms(1_000, 3_000) },
        { speaker: 'caller', text: 'A table for four, please.', startMs: 4_000, endMs: ms(4_000, 6_000) },
        { speaker: 'agent', text: 'Table seven is yours.', startMs: 9_000, endMs: ms(9_000, 11_000) },
      ],
      // Retell places a tool among the words, without a time.
      toolCalls: [
        {
          ...{ name: 'find_table', arguments: { people: 4 }, result: '{"table":7}' },
          startMs: name === 'retell' ? 6_000 : 7_000,
        },
      ],
      endedReason: 'caller-left',
      latencies: { [kind]: name === 'elevenlabs' ? [900] : [900, 2_000] },
      recording: name === 'elevenlabs' ? 'none' : 'awaited',
      attemptId: ATTEMPT,
      callerNumber: '+15550123',
    });
    expect(opened.turns()).toBe(1);
  });

  it('are not those of another id than was asked for', async () => {
    const another = { id: 'call_7', call_id: 'call_7', conversation_id: 'call_7' };
    const { get } = await open(name, booked(0, { fields: another }));
    expect(await failureOf(get('call_0'))).toMatchObject({ message: expect.stringContaining('id of another call') });
  });

  it('are listed by the end of the calls, over pages, each once, without those that go on', async () => {
    const calls = Array.from({ length: 340 }, (_, index) => booked(index));
    const { list } = await open(name, ...calls, booked(400, { endedAt: null }), booked(401, { agent: 'another' }));
    const found: string[] = [];
    for (let from = NOON - HOUR; from < NOON + 100 * HOUR;) {
      const { items, until, malformed } = await list(from);
      expect(malformed).toBe(0);
      found.push(...items.map(({ id }) => id));
      from = until;
    }
    expect(new Set(found)).toEqual(new Set(calls.map(({ id }) => id)));
    expect(found.length).toBeLessThanOrEqual(345);
  });

  it('are listed within the window alone', async () => {
    const { list } = await open(name, booked(0), booked(10), booked(20));
    const { items } = await list(NOON + 5 * 60_000, NOON + 15 * 60_000);
    expect(items).toEqual([{ id: 'call_10', endedAt: NOON + 641_000, attemptId: null }]);
  });

  it('are listed once although the platform lists them twice, and what has no id is counted', async () => {
    const { list, kept } = await open(name, booked(0), booked(1));
    kept.faults.hasDuplicates = true;
    const { items, malformed } = await list();
    expect(items.map(({ id }) => id).sort()).toEqual(['call_0', 'call_1']);
    expect(malformed).toBe(2);
  });

  it('are listed although it cannot be read when they ended: their records say more', async () => {
    const fields = {
      vapi: { endedAt: 'soon' },
      retell: { end_timestamp: 'soon' },
      elevenlabs: { metadata: { start_time_unix_secs: NOON / 1_000 } },
    }[name];
    const { list } = await open(name, booked(0, { fields }));
    expect((await list()).items).toMatchObject([{ id: 'call_0', endedAt: null }]);
  });

  it('end with an error for a list that has no end', async () => {
    const { list, kept } = await open(name, booked(0), booked(1));
    kept.faults.isEndless = true;
    expect(await failureOf(list())).toMatchObject({ code: 'bad_response', message: expect.stringContaining('no end') });
    expect(opened.turns()).toBeLessThan(250);
  });

  it('are refused with the words of the platform, its status and its Retry-After', async () => {
    const { list, kept } = await open(name);
    kept.faults.refusals = [{ status: 429, body: '{"message":"Slow down"}', headers: { 'retry-after': '7' } }];
    expect(await failureOf(list())).toMatchObject({ code: 'rate_limited', status: 429, retryAfterMs: 7_000 });
    const refused = await failureOf(list(NOON, NOON + HOUR, 'another_key_0987654321'));
    expect(refused).toMatchObject({ code: 'platform_refused', status: 401 });
    expect(refused.message).not.toContain('0987654321');
    kept.faults.refusals = [{ status: 403, body: '{"message":"Missing scope History.Read"}' }];
    const { status, message } = await failureOf(list());
    expect([status, message]).toEqual([403, expect.stringContaining('History.Read')]);
  });

  it('are not decompressed: 64 MiB in 64 kB are an answer that cannot be read', async () => {
    const { get, kept } = await open(name, booked(0));
    kept.faults.isCompressed = true;
    expect(await failureOf(get('call_0'))).toMatchObject({ code: 'bad_response' });
  });

  it('are null for a call that goes on, and for an unknown one', async () => {
    const { get } = await open(name, booked(0, { endedAt: null }));
    expect([await get('call_0'), await get('../call_0'), await get('unknown')]).toEqual([null, null, null]);
  });

  it('are read again as they have grown', async () => {
    const { get, kept } = await open(name, booked(0));
    kept.faults.growsAfter = 1;
    expect((await get('call_0'))!.said).toHaveLength(1);
    expect((await get('call_0'))!.said).toHaveLength(3);
  });

  it('with 100,000 entries are too large, and not read', async () => {
    const line = { speaker: 'agent', text: 'a', startMs: 0, endMs: 0 } as const;
    const { get } = await open(name, booked(0, { lines: Array.from({ length: 100_000 }, () => line) }));
    expect(await failureOf(get('call_0'))).toMatchObject({ code: 'answer_too_large' });
  });
});

describe('the list of Vapi, which has no pages', () => {
  const ended = (index: number, ms: number) => booked(index, { startedAt: NOON, endedAt: NOON + ms });
  /** All parts of a window. */
  async function listed(calls: readonly KeptCall[]) {
    const { list } = await open('vapi', ...calls);
    const ids = new Set<string>();
    const cutAt: number[] = [];
    for (let from = NOON - HOUR; from < NOON + HOUR;) {
      const { items, until, isCut } = await list(from, NOON + HOUR);
      for (const { id } of items) ids.add(id);
      if (isCut) cutAt.push(until - NOON);
      from = until;
    }
    return { ids, cutAt };
  }

  it('has all of 250 calls that ended within one second', async () => {
    const calls = Array.from({ length: 250 }, (_, index) => ended(index, 2 * index));
    expect(await listed(calls)).toEqual({ ids: new Set(calls.map(({ id }) => id)), cutAt: [] });
  });

  it('has 100 of 130 calls that ended at one moment, says so, and goes on', async () => {
    const calls = Array.from({ length: 150 }, (_, index) => ended(index, index < 10 ? 0 : index < 140 ? 500 : 501));
    const { ids, cutAt } = await listed(calls);
    const at = (from: number, until: number) => calls.slice(from, until).filter(({ id }) => ids.has(id)).length;
    expect([at(0, 10), at(10, 140), at(140, 150), cutAt]).toEqual([10, 100, 10, [500]]);
  });
});

describe.each(['vapi', 'retell'] as const)('the recordings of %s', (name) => {
  const sound = Buffer.alloc(3 * 1024 * 1024, 7);

  it('are read in parts from an address that gets no key', async () => {
    const { read, get, kept } = await open(name, booked(0, { sound }));
    expect((await get('call_0'))!.recording).toBe('available');
    const { outcome, bytes } = await read();
    expect([outcome, bytes.equals(sound)]).toEqual(['taken', true]);
    expect(kept.downloads).toHaveLength(1);
    expect(JSON.stringify(kept.downloads)).not.toContain(KEY);
    expect(kept.downloads[0]).not.toHaveProperty('authorization');
  });

  it('are awaited until they are there', async () => {
    const { read, kept } = await open(name, booked(0, { sound }));
    kept.faults.soundAfter = 2;
    expect([(await read()).outcome, (await read()).outcome, (await read()).outcome]).toEqual([
      ...['awaited', 'awaited', 'taken'],
    ]);
  });

  it.each([
    ['http beyond this machine', 'http://recordings.example/stereo.wav'],
    ['no address', 'recordings/stereo.wav'],
    ['an address with a password', 'https://user:secret@recordings.example/a.wav'],
  ])('are not read from %s', async (_what, soundAt) => {
    const { read, kept } = await open(name, booked(0, { sound }));
    kept.faults.soundAt = soundAt;
    const { code, message } = await failureOf(read());
    expect([code, message]).toEqual(['bad_response', expect.not.stringContaining('secret')]);
  });

  it('are not read from a private address, and follow no further redirect', async () => {
    const { read, kept } = await open(name, booked(0, { sound }));
    kept.faults.soundAt = 'https://169.254.169.254/latest/meta-data';
    expect(await failureOf(read())).toMatchObject({ code: 'address_refused' });
    kept.faults.soundAt = `${opened.url()}/recordings/expired.wav`;
    expect((await read()).outcome).toBe('awaited');
  });

  it.each([401, 429])('say nothing about the key if their host answers with %i', async (status) => {
    const { read, kept } = await open(name, booked(0, { sound }));
    const serve = jest.spyOn(kept, 'serve').mockImplementation((pathname, _headers, response) => {
      const isSound = pathname.startsWith('/recordings/');
      if (isSound) response.writeHead(status).end();
      return isSound;
    });
    const failure = await failureOf(read());
    serve.mockRestore();
    expect(failure).toMatchObject({ message: expect.stringContaining(`HTTP ${status}`) });
    expect(failure.status).toBeUndefined();
  });

  it('are not decompressed', async () => {
    const { read, kept } = await open(name, booked(0, { sound }));
    kept.misbehaves = () => false;
    kept.faults.isCompressed = true;
    expect(await failureOf(read())).toMatchObject({ code: 'bad_response', message: expect.stringContaining('gzip') });
  });

  it('and records are read in a thread of the workspace', async () => {
    const { threaded, request } = await open(name, booked(0, { sound, attempt: ATTEMPT }));
    const window = { assistantId: AGENT, from: NOON, until: NOON + HOUR };
    const listed = { id: 'call_0', endedAt: NOON + 41_000, attemptId: ATTEMPT };
    expect((await threaded.list(window, request())).items).toEqual([listed]);
    expect(await threaded.get('call_0', request())).toMatchObject({ attemptId: ATTEMPT });
    const parts: Uint8Array[] = [];
    const outcome = await threaded.recording!('call_0', request(), (part) => void parts.push(part));
    expect([outcome, Buffer.concat(parts).equals(sound), opened.turns()]).toEqual(['taken', true, 3]);
    const full = () => Promise.reject(new Error('The disk is full'));
    await expect(threaded.recording!('call_0', request(), full)).rejects.toThrow('The disk is full');
  });
});
