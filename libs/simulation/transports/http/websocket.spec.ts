import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import { READ_LIMITS } from '../../other-side/read-limits.js';
import { SEND_LIMITS } from '../../other-side/send-limits.js';
import { OtherSide } from '../../other-side/other-side.js';
import { type ReadingAccount, ReadingTime } from './reading-time.js';
import { AgentSocket, type SocketHandlers } from './websocket.js';

/** The TCP connection below a WebSocket. */
const tcpOf = (socket: WebSocket) => (socket as unknown as { _socket: NodeJS.WritableStream })._socket;

describe('AgentSocket', () => {
  let server: WebSocketServer;
  const connections: WebSocket[] = [];
  const opened: AgentSocket[] = [];

  beforeEach(async () => {
    server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    server.on('connection', (socket) => connections.push(socket));
    await new Promise((resolve) => server.once('listening', resolve));
  });
  afterEach(async () => {
    for (const socket of opened.splice(0)) socket.drop();
    for (const socket of connections.splice(0)) socket.terminate();
    await new Promise((resolve) => server.close(resolve));
  });

  function connect(handlers: Partial<SocketHandlers>, reading?: ReadingAccount, path = ''): AgentSocket {
    const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}/${path}`;
    const target = { url, headers: {}, addresses: ['127.0.0.1'] };
    const nothing = () => undefined;
    const all = { onOpen: nothing, onMessage: nothing, onClose: nothing, onFailure: nothing, ...handlers };
    const socket = new AgentSocket(target, new OtherSide(url, []), 5_000, all, reading);
    opened.push(socket);
    return socket;
  }

  it('ends the connection to an agent that does not read, once, before the memory is full', async () => {
    server.on('connection', (socket) => socket.pause());
    const reported: unknown[] = [];
    const message = 'x'.repeat(100_000);
    let sent = 0;
    await new Promise<void>((resolve) => {
      const socket = connect({
        onOpen: () => {
          for (; sent < 500; sent++) socket.send(message);
          // After all failures, which are reported in a later turn of the event loop.
          setImmediate(() => setImmediate(resolve));
        },
        onBroken: (what, code) => reported.push([what, code]),
      });
    });
    expect(reported).toEqual([['it does not read what is sent to it', 'connection_lost']]);
  });

  it('pauses a socket that delivers too much at once, and loses nothing of it', async () => {
    const count = 4 * SEND_LIMITS.turn.frames;
    server.on('connection', (socket) => {
      // At once, so that many arrive in one part.
      const tcp = tcpOf(socket) as NodeJS.WritableStream & { cork(): void; uncork(): void };
      tcp.cork();
      for (let n = 0; n < count; n++) socket.send(String(n));
      socket.ping();
      tcp.uncork();
    });
    const received: string[] = [];
    const pauses: number[] = [];
    const frames = { messages: 0, control: 0, continuation: 0 };
    await new Promise<void>((resolve) => {
      connect({
        onFrames: (some) => {
          for (const kind of ['messages', 'control', 'continuation'] as const) frames[kind] += some[kind];
        },
        onPaused: (from, to) => {
          pauses.push(to - from);
          if (received.length === count) resolve();
        },
        onMessage: (data) => {
          received.push(String(data));
          if (received.length === count && pauses.length > 0) resolve();
        },
      });
    });
    expect(received).toEqual(Array.from({ length: count }, (_, n) => String(n)));
    expect(frames).toEqual({ messages: count, control: 1, continuation: 0 });
    // Timers may be a millisecond early.
    expect(Math.min(...pauses)).toBeGreaterThan(SEND_LIMITS.turn.pauseMs - 2);
  });

  it('reads floods in a share of the time of the thread, loses nothing of them, and never pauses who sends little', async () => {
    const [count, floods, costMs] = [120, 3, 1];
    const [allMs, share] = [20, 0.3];
    // That of each is the one of a call: enough for a thread that the machine stops while it handles a small message.
    const { each } = SEND_LIMITS.reading;
    const time = new ReadingTime({ each, all: { sizeMs: allMs, share } });
    const message = 'x'.repeat(16_000);
    server.on('connection', (socket, { url }) => {
      if (url === '/') for (let n = 0; n < count; n++) socket.send(message);
      else setInterval(() => socket.send('little'), 20).unref();
    });
    const [received, pauses, little] = [
      Array<number>(floods).fill(0),
      Array<number>(floods).fill(0),
      { n: 0, pauses: 0 },
    ];
    connect({ onMessage: () => little.n++, onPaused: () => little.pauses++ }, time.account(), 'little');
    const began = performance.now();
    await new Promise<void>((resolve) => {
      for (let flood = 0; flood < floods; flood++) {
        const onMessage = () => {
          const until = performance.now() + costMs;
          while (performance.now() < until);
          received[flood]!++;
          if (received.every((each) => each === count)) resolve();
        };
        connect({ onMessage, onPaused: () => pauses[flood]!++ }, time.account());
      }
    });
    const needed = (floods * (count * costMs - each.sizeMs) - allMs) / share;
    // What was in the receiver when the last one was paused is read at once.
    expect(performance.now() - began).toBeGreaterThan(needed / 2);
    expect(Math.min(...pauses)).toBeGreaterThan(0);
    expect(little.n).toBeGreaterThan(10);
    expect(little.pauses).toBe(0);
  });

  it('takes a Close frame for the end, although the agent keeps the TCP connection open', async () => {
    server.on('connection', (socket) => {
      socket.send('last words');
      // A Close frame with code 1000, after which nothing happens.
      tcpOf(socket).write(Buffer.from([0x88, 0x02, 0x03, 0xe8]));
      socket.pause();
    });
    const received: string[] = [];
    const code = await new Promise<number>((resolve) => {
      const socket = connect({ onMessage: (data) => received.push(String(data)), onClose: resolve });
      const ticks = setInterval(() => socket.poll(), 5);
      ticks.unref();
      opened.push({ drop: () => clearInterval(ticks) } as AgentSocket);
    });
    expect({ code, received }).toEqual({ code: 1000, received: ['last words'] });
  });

  it.each<[string, number[], string]>([
    ['a masked frame', [0x81, 0x81, 0, 0, 0, 0, 0x41], 'MASK must be clear'],
    ['text that is not UTF-8', [0x81, 0x01, 0xff], 'invalid UTF-8 sequence'],
    ['a close code that may not be sent', [0x88, 0x02, 0x03, 0xed], 'invalid status code 1005'],
  ])('reports a broken connection at once: %s', async (_name, bytes, what) => {
    server.on('connection', (socket) => {
      tcpOf(socket).write(Buffer.from(bytes));
      socket.pause();
    });
    const reported = await new Promise<string>((resolve) => connect({ onBroken: resolve }));
    expect(reported).toContain(what);
  });

  it('ends an open connection at a message above the limit, as a broken one', async () => {
    server.on('connection', (socket) => {
      socket.on('error', () => undefined);
      socket.send('x'.repeat(READ_LIMITS.message.bytes + 1));
    });
    const reported = await new Promise((resolve, reject) =>
      connect({ onBroken: (what, code) => resolve([what, code]), onFailure: reject }),
    );
    expect(reported).toEqual(['one message is larger than 8 MiB', 'answer_too_large']);
  });

  it.each([
    ['one frame', ['{},'.repeat(40_000)]],
    ['fragments, with pings between them', Array.from({ length: 400 }, () => '{},'.repeat(100))],
  ])(
    'ends an open connection at a message with too much structure, before it has arrived: in %s',
    async (_in, parts) => {
      server.on('connection', (socket) => {
        socket.on('error', () => undefined);
        // More structure than a message may have, in what is not JSON, or in a string.
        socket.send(Buffer.alloc(200_000, '{'));
        socket.send(`"${'{'.repeat(200_000)}"`);
        for (const part of parts) {
          socket.send(part, { fin: false });
          socket.ping('{}'.repeat(50));
        }
      });
      const received: number[] = [];
      const reported = await new Promise((resolve, reject) =>
        connect({
          onMessage: ({ length }) => received.push(length),
          onBroken: (what, code) => resolve([what, code]),
          onFailure: reject,
        }),
      );
      const what = expect.stringMatching(
        /^one message has 1\d\d,\d{3} structural characters or more, where 100,000 are allowed$/,
      );
      expect(reported).toEqual([what, 'answer_too_large']);
      expect(received).toEqual([200_000, 200_002]);
    },
  );
});
