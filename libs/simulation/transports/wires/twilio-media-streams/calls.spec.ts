import { collected, planOf, speech } from '../../../voice/testing/virtual-calls.js';
import type { VoiceFacts } from '../../../voice/facts/facts.js';
import type { HeardPiece } from '../../../voice/facts/heard-piece.js';
import { block, crash, useFaultyThreads } from '../../../testing/faulty-threads.js';
import { toMulaw } from '../../../testing/telephone-sounds.js';
import { twilioSignature } from '../../twiml/signature.js';
import type { AgentScript } from '../../../../../test/simulators/twilio/twilio-agent.js';
import { agent, answering, AUTH_TOKEN, call, failed, SCRIPT, until, useAgents } from './testing/voice-calls.js';
import { MediaThread } from '../../../voice/thread/media-thread.js';
import { OwnedThreads, type ThreadDeath, ThreadPerCall } from '../../../../concurrency/index.js';
import { twilioMediaStreams } from './index.js';
import { mediaThreads, callThreadEvents } from '../../protocols.js';

describe('twilioMediaStreams over a WebSocket address', () => {
  useAgents();
  useFaultyThreads();

  it('makes a call: the agent hears the caller, and is heard', async () => {
    const { sink, wire, bytes } = collected();
    const callee = await agent(answering());
    const onHangUp = jest.fn();
    const facts = await call(`ws://${callee.host}/media?tenant=7`, {
      recording: sink,
      onHangUp,
      endpoint: { options: { parameters: { tenant: 'x' } } },
    });
    const [stream] = callee.streams;
    expect(facts.end).toMatchObject({ by: 'caller', code: 'caller_done' });
    expect(facts.agent).toHaveLength(1);
    expect(facts.agent[0]!.endMs - facts.agent[0]!.startMs).toBeCloseTo(600, -1);
    expect(facts.wireFindings).toEqual([]);
    expect(facts.caller).toMatchObject([{ type: 'say', startMs: expect.any(Number) as number }]);
    expect(onHangUp).toHaveBeenCalledTimes(1);
    expect(stream!.path).toBe('/media?tenant=7');
    expect(stream!.headers['x-twilio-signature']).toBe(
      twilioSignature(AUTH_TOKEN, `ws://${callee.host}/media?tenant=7`),
    );
    expect(stream!.headers).toMatchObject({ 'x-tenant': 'bella-vista-9', 'x-call-id': expect.any(String) as string });
    expect(stream!.headers['sec-websocket-extensions']).toBeUndefined();
    expect(stream!.messages[1]).toMatchObject({ event: 'start', start: { customParameters: { tenant: 'x' } } });
    const media = stream!.messages.filter(({ event }) => event === 'media');
    expect(media.every(({ media: { timestamp, chunk } }) => timestamp === String((chunk - 1) * 20))).toBe(true);
    expect(stream!.messages.at(-1)).toMatchObject({ event: 'stop' });
    expect(stream!.messages.filter(({ event }) => event === 'mark')).toHaveLength(1);
    expect(bytes().length).toBe(Math.round(facts.end.atMs * 8) * 2);
    expect(wire.length).toBe(stream!.messages.length + 2);
    expect(callee.webhooks).toEqual([]);
    await until(() => callee.closes.length > 0);
    expect(callee.closes).toEqual([1000]);
  });

  it('passes on what is heard of the agent for a recogniser', async () => {
    const callee = await agent(answering());
    const pieces: HeardPiece[] = [];
    const { agent: sounds } = await call(`ws://${callee.host}/`, { onPiece: (piece) => pieces.push(piece) });
    expect(pieces).toHaveLength(1);
    const { voice, startMs, endMs, pcm, rate } = pieces[0]!;
    expect(voice).toEqual({ startMs: sounds[0]!.startMs, endMs: sounds[0]!.endMs });
    expect([pcm.length, rate]).toEqual([Math.round((endMs - startMs) * 8), 8_000]);
    expect(pcm.filter((sample) => Math.abs(sample) > 1_000).length).toBeGreaterThan(2_000);
  });

  it('signs the public address in place of the dialled one', async () => {
    const callee = await agent(answering());
    const publicUrl = 'wss://agent.example.com/media';
    await call(`ws://${callee.host}/media`, { endpoint: { options: { publicUrl, authToken: 'other-token' } } });
    expect(callee.streams[0]!.headers['x-twilio-signature']).toBe(twilioSignature('other-token', publicUrl));
  });

  it('ends when the agent closes the connection', async () => {
    const callee = await agent({ onStart: ({ socket }) => setTimeout(() => socket.close(1000), 300) });
    const facts = await call(`ws://${callee.host}/`);
    expect(facts.end).toMatchObject({ by: 'agent', code: 'agent_hung_up' });
    expect(facts.end.atMs).toBeGreaterThan(200);
  });

  it('reports a connection that breaks off', async () => {
    const callee = await agent({ onStart: ({ socket }) => setTimeout(() => socket.terminate(), 200) });
    const facts = await call(`ws://${callee.host}/`);
    expect(facts.end.code).toBe('failure');
    expect(facts.failure).toMatchObject({ code: 'connection_lost' });
  });

  it('runs calls side by side, each with its own sound', async () => {
    const callee = await agent(answering());
    const all = await Promise.all(Array.from({ length: 8 }, () => call(`ws://${callee.host}/`)));
    expect(all.map(({ agent: sounds }) => sounds.length)).toEqual(all.map(() => 1));
    expect(new Set(callee.streams.map(({ streamSid }) => streamSid)).size).toBe(8);
    expect(mediaThreads.calls).toBe(0);
  });

  it('stops when it is aborted, and hangs up', async () => {
    const controller = new AbortController();
    const reason = new Error('cancelled');
    const callee = await agent({
      onStart: (stream) => {
        stream.play(toMulaw(speech(200)));
        setTimeout(() => controller.abort(reason), 800);
      },
    });
    const observed: VoiceFacts[] = [];
    const onAborted = (facts: VoiceFacts) => observed.push(facts);
    await expect(call(`ws://${callee.host}/`, { signal: controller.signal, onAborted })).rejects.toBe(reason);
    expect(observed).toMatchObject([{ agent: [expect.anything()], end: { by: 'tester', code: 'failure' } }]);
    await until(() => callee.closes.length > 0);
    expect(callee.streams[0]!.messages.at(-1)?.event).toBe('stop');
    await expect(call(`ws://${callee.host}/`, { signal: controller.signal })).rejects.toBe(reason);
  });

  it('knows how much memory the thread holds, including audio', async () => {
    const plan = { ...planOf(SCRIPT, { firstSpeaker: 'caller' }), babble: new Int16Array(2 ** 24) };
    await call(`ws://${(await agent(answering())).host}/`);
    const before = await mediaThreads.memoryBytes();
    expect(before).toBeGreaterThan(2 ** 20);
    let during: Promise<number> | undefined;
    const callee = await agent(answering(() => void (during = mediaThreads.memoryBytes())));
    await call(`ws://${callee.host}/`, { plan });
    // Less than its length, because garbage of the heap may have been collected.
    expect(await during).toBeGreaterThan(before + plan.babble.byteLength / 2);
  });

  it('answers with 0 bytes without a thread, also when it ends before it has answered', async () => {
    await call(`ws://${(await agent(answering())).host}/`);
    block(mediaThreads.threads[0]!, 200);
    const blocked = mediaThreads.memoryBytes();
    await mediaThreads.close();
    expect([await blocked, await mediaThreads.memoryBytes()]).toEqual([0, 0]);
  });

  describe('when the thread ends', () => {
    let deaths: ThreadDeath[];
    const onDeath = (death: ThreadDeath) => void deaths.push(death);
    beforeEach(() => {
      deaths = [];
      callThreadEvents.on('death', onDeath);
    });
    afterEach(() => void callThreadEvents.off('death', onDeath));

    it('fails its calls, names them once, and starts another one', async () => {
      let begun = 0;
      const callee = await agent(answering(() => void (++begun === 2 && crash(mediaThreads.threads[0]!))));
      const callIds = ['one', 'two'];
      const failures = await Promise.all(callIds.map((callId) => failed(call(`ws://${callee.host}/`, { callId }))));
      for (const { failure } of failures) expect(failure).toMatchObject({ code: 'thread_ended', retryable: true });
      expect(deaths).toEqual([
        { callIds, cause: expect.objectContaining({ message: expect.stringMatching(/crash/) }) },
      ]);
      const sound = await agent(answering());
      expect((await call(`ws://${sound.host}/`)).agent).toHaveLength(1);
      await mediaThreads.close();
      expect(deaths).toHaveLength(1);
    });

    it('for lack of memory, no call of another workspace ends, which has a thread of its own', async () => {
      const threads = new OwnedThreads({ start: () => new MediaThread({ onDeath, heapMiB: 64 }), most: 4 });
      const url = `ws://${(await agent(answering())).host}/`;
      const entry = new URL('./testing/filling-wire.js', import.meta.url);
      const module = { ...twilioMediaStreams, entry };
      const hostile = ['one', 'two'].map((callId) =>
        failed(call(url, { callId, workspaceId: 'hostile', threads, module })),
      );
      const healthy = await Promise.all(
        ['three', 'four'].map((callId) => call(url, { callId, workspaceId: 'healthy', threads })),
      );
      for (const { agent: sounds } of healthy) expect(sounds).toHaveLength(1);
      for (const { failure } of await Promise.all(hostile)) expect(failure.code).toBe('thread_ended');
      expect(deaths.map(({ callIds }) => callIds)).toEqual([['one', 'two']]);
      expect(deaths[0]!.cause).toMatchObject({ code: 'ERR_WORKER_OUT_OF_MEMORY' });
      await threads.close();
    });

    it('ends no other call if the call had a thread of its own, of which there is one at a time', async () => {
      const threads = new ThreadPerCall(() => new MediaThread({ onDeath }));
      const order: string[] = [];
      const alone = (callId: string, script: AgentScript) =>
        threads.use('w-1', new AbortController().signal, async (thread) => {
          order.push(`${callId} begins`);
          const crashing = { ...script, ...(callId === 'bad' && { onStart: () => crash(thread) }) };
          try {
            return await call(`ws://${(await agent(crashing)).host}/`, {
              ...{ callId, threads: { use: (_owner, _signal, task) => task(thread) } },
            });
          } finally {
            order.push(`${callId} ends`);
          }
        });
      const shared = call(`ws://${(await agent(answering())).host}/`);
      const bad = failed(alone('bad', answering()));
      const good = alone('good', answering());
      expect((await bad).failure.code).toBe('thread_ended');
      expect((await good).agent).toHaveLength(1);
      expect((await shared).agent).toHaveLength(1);
      expect(order).toEqual(['bad begins', 'bad ends', 'good begins', 'good ends']);
      expect(deaths.map(({ callIds }) => callIds)).toEqual([['bad']]);
    });
  });

  it.each<[string, AgentScript, string]>([
    ['refuses the upgrade with 403', { upgrade: () => 403 }, 'http_refused'],
    ['refuses the upgrade with 503', { upgrade: () => 503 }, 'http_status'],
    ['answers 500', { upgrade: () => 500 }, 'agent_status'],
    ['redirects', { upgrade: () => 302 }, 'redirect'],
    ['is busy', { upgrade: () => 429 }, 'rate_limited'],
    ['closes instead of answering', { upgrade: (_request, socket) => (socket.destroy(), 0) }, 'connection_failed'],
    ['speaks no HTTP', { upgrade: (_request, socket) => (socket.end('SSH-2.0-OpenSSH_9\r\n'), 0) }, 'bad_response'],
    [
      'accepts with a wrong key',
      {
        upgrade: (_request, socket) => {
          const head = 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n';
          socket.write(`${head}Sec-WebSocket-Accept: x\r\n\r\n`);
          return 0;
        },
      },
      'bad_response',
    ],
  ])('fails if the agent %s', async (_name, script, code) => {
    const callee = await agent(script);
    const { failure } = await failed(call(`ws://${callee.host}/`));
    expect(failure.code).toBe(code);
  });

  it('ends with what was observed if the agent sends a message of 9 MB', async () => {
    const callee = await agent({ onStart: ({ socket }) => socket.send('x'.repeat(9 * 1024 * 1024)) });
    const { failure, end, wireFindings } = await call(`ws://${callee.host}/`);
    expect([failure?.code, end.code]).toEqual(['answer_too_large', 'failure']);
    expect(wireFindings.map(({ code }) => code)).toEqual(['broken_websocket']);
  });

  it('says what the agent said, without secrets', async () => {
    const callee = await agent({
      upgrade: ({ headers }, socket) => {
        const body = `no: ${headers['x-tenant'] as string} ${AUTH_TOKEN}`;
        socket.end(`HTTP/1.1 401 No\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
        return 0;
      },
    });
    const { message } = (await failed(call(`ws://${callee.host}/secret-path-123456789`))).failure;
    expect(message).toContain('it said "no: [redacted] [redacted]"');
    expect(message).not.toContain('secret-path-123456789');
  });

  it('cuts out the key of the agent, too, where another token signs', async () => {
    const said = `${AUTH_TOKEN} other-token`;
    const callee = await agent({
      upgrade: (_, socket) => {
        socket.end(`HTTP/1.1 401 No\r\ncontent-length: ${said.length}\r\n\r\n${said}`);
        return 0;
      },
    });
    const endpoint = { options: { authToken: 'other-token' } };
    const { message } = (await failed(call(`ws://${callee.host}/`, { endpoint }))).failure;
    expect(message).toContain('it said "[redacted] [redacted]"');
  });

  it('survives a flood of messages that cannot be understood', async () => {
    const callee = await agent(
      answering(({ socket }) => {
        for (let n = 0; n < 3_000; n++) socket.send(n % 2 === 0 ? '{"event":"media"}' : Buffer.from([n & 0xff]));
      }),
    );
    const facts = await call(`ws://${callee.host}/`);
    expect(facts.agent).toHaveLength(1);
    expect(facts.wireFindings.map(({ code, detail }) => [code, /\(1500 times\)/.test(detail)])).toEqual([
      ['invalid_message', true],
      ['binary_frame', true],
    ]);
  });

  it('refuses a private address and a name that leads to one alike', async () => {
    const callee = await agent();
    const outbound = { allowedNetworks: [], resolve: () => Promise.resolve(['127.0.0.1']) };
    const literal = await failed(call(`ws://${callee.host}/`, { outbound }));
    const named = await failed(call(`ws://agent.example:${callee.port}/`, { outbound }));
    expect(literal.failure.code).toBe('address_refused');
    expect(named.failure.code).toBe('address_refused');
    expect(callee.streams).toEqual([]);
  });

  it('refuses a port of the service itself, and connects to nothing but the checked addresses', async () => {
    const callee = await agent(answering());
    const own = { ownEndpoints: [{ port: callee.port }] };
    expect((await failed(call(`ws://${callee.host}/`, { outbound: own }))).failure.code).toBe('address_refused');
    const lookups: string[] = [];
    const resolve = (name: string) => {
      lookups.push(name);
      return Promise.resolve(['127.0.0.1']);
    };
    // No resolver knows this name: the connection can only go to the address that was checked.
    const facts = await call(`ws://agent.invalid:${callee.port}/`, { outbound: { resolve } });
    expect(facts.agent).toHaveLength(1);
    expect(lookups).toEqual(['agent.invalid']);
  });
});
