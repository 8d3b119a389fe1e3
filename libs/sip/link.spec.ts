import { createServer, type AddressInfo, type Socket } from 'node:net';
import { SipLink } from './link.js';
import { connectByTcp } from './testing/far-side.js';

const MESSAGE = 'OPTIONS sip:a SIP/2.0\r\nContent-Length: 0\r\n\r\n';
const open: { close(): unknown }[] = [];
afterEach(() => {
  for (const one of open.splice(0)) one.close();
});

/** A link, the socket at its other end, and what happens at both. */
async function linked(times: { partialMessage: number; keepAlive: number; closing: number }) {
  const server = createServer();
  const far = new Promise<Socket>((resolve) => server.once('connection', resolve));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const socket = await connectByTcp({ user: undefined, host: '127.0.0.1', port, transport: 'tcp' });
  const messages: string[] = [];
  let link!: SipLink;
  const closed = new Promise<Error | undefined>((resolve) => {
    const handlers = { message: (text: string) => void messages.push(text), closed: resolve };
    link = new SipLink(socket, 'tcp', handlers, times);
  });
  open.push(link, server);
  const other = await far;
  const received = new Promise<string>((resolve) => other.once('data', (chunk: Buffer) => resolve(chunk.toString())));
  return { link, socket, other, messages, received, closed };
}

const LONG = { partialMessage: 60_000, keepAlive: 60_000, closing: 60_000 };

describe('SipLink', () => {
  it('answers keep-alives, and sends its own', async () => {
    const answering = await linked(LONG);
    answering.other.write('\r\n\r\n');
    expect(await answering.received).toBe('\r\n');
    const sending = await linked({ ...LONG, keepAlive: 20 });
    expect(await sending.received).toBe('\r\n\r\n');
  });

  it('closes if a message trickles in', async () => {
    const { other, closed, messages } = await linked({ ...LONG, partialMessage: 200 });
    other.write(MESSAGE);
    const trickle = setInterval(() => other.write('x'), 20);
    other.on('error', () => clearInterval(trickle));
    expect((await closed)?.message).toBe('message that was not complete in time');
    clearInterval(trickle);
    expect(messages).toEqual([MESSAGE]);
  });

  // 1 MB after a valid Content-Length.
  it('closes with the fault of the stream, after the messages before it', async () => {
    const { other, closed, messages } = await linked(LONG);
    other.on('error', () => undefined);
    other.write(MESSAGE + 'x'.repeat(1_000_000));
    expect((await closed)?.message).toBe('message over 16 KiB');
    expect(messages).toEqual([MESSAGE]);
  });

  // thevoiceguy/siphon-ai#381: sockets stay open if only one side closes them.
  it('is over soon after it was closed, also if the other side keeps the connection open', async () => {
    const { link, socket, other } = await linked({ ...LONG, closing: 50 });
    other.allowHalfOpen = true;
    const over = new Promise((resolve) => socket.once('close', resolve));
    link.close();
    await over;
    expect(socket.destroyed).toBe(true);
    other.destroy();
  });

  it('closes without a fault if the other side does', async () => {
    const { other, closed, link } = await linked(LONG);
    other.end();
    expect(await closed).toBeUndefined();
    expect(() => link.send(MESSAGE)).toThrow('The connection has ended');
  });
});
