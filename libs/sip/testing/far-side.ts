import { createServer, connect as connectTcp, type AddressInfo, type Socket } from 'node:net';
import type { SipAddress } from '../address.js';
import type { EndpointOptions } from '../endpoint.js';
import { KEEP_ALIVE, SipFraming } from '../framing.js';

export interface Received {
  readonly method: string;
  readonly text: string;
  header(name: string): string;
  /** Text of a response; `lines` come after the headers that every response has. */
  reply(status: string, lines?: readonly string[], body?: string, toTag?: string): string;
}

export type Script = (request: Received, send: (text: string) => void, socket: Socket) => void;

/** The other side of a connection, which sends what a test says, also what no SIP stack would send. */
export class FarSide {
  readonly received: Received[] = [];
  readonly sockets: Socket[] = [];

  private constructor(
    readonly address: SipAddress,
    readonly close: () => Promise<void>,
  ) {}

  static async open(script: Script): Promise<FarSide> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const farSide: FarSide = new FarSide({ user: 'agent', host: '127.0.0.1', port, transport: 'tcp' }, async () => {
      for (const socket of farSide.sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    });
    server.on('connection', (socket) => {
      const framing = new SipFraming();
      farSide.sockets.push(socket);
      socket.on('error', () => undefined);
      socket.on('data', (chunk: Buffer) => {
        for (const text of framing.push(chunk)) {
          if (text === KEEP_ALIVE) continue;
          const request = received(text);
          farSide.received.push(request);
          script(request, (answer) => socket.writable && socket.write(answer), socket);
        }
      });
    });
    return farSide;
  }

  get options(): EndpointOptions {
    return { connect: connectByTcp, address: this.address, userAgent: 'test' };
  }

  methods(): string[] {
    return this.received.map(({ method }) => method);
  }

  async until(method: string, count = 1): Promise<Received> {
    for (let tries = 0; tries < 500; tries += 1) {
      const found = this.received.filter((one) => one.method === method)[count - 1];
      if (found) return found;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    throw new Error(`no ${method} came, only ${this.methods().join(', ')}`);
  }
}

export const connectByTcp = (address: SipAddress): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const socket = connectTcp(address.port, address.host, () => resolve(socket));
    socket.on('error', reject);
  });

function received(text: string): Received {
  const header = (name: string): string => new RegExp(`^${name}:[ ]*(.*)$`, 'im').exec(text)?.[1]?.trim() ?? '';
  return {
    method: text.startsWith('SIP/2.0') ? text.slice(8, 11) : (/^\w+/.exec(text)?.[0] ?? ''),
    text,
    header,
    reply: (status, lines = [], body = '', toTag = 'far') =>
      [
        `SIP/2.0 ${status}`,
        `Via: ${header('Via')}`,
        `From: ${header('From')}`,
        `To: ${header('To')}${toTag === '' || header('To').includes('tag=') ? '' : `;tag=${toTag}`}`,
        `Call-ID: ${header('Call-ID')}`,
        `CSeq: ${header('CSeq')}`,
        ...lines,
        ...(body === '' ? [] : ['Content-Type: application/sdp']),
        `Content-Length: ${Buffer.byteLength(body)}`,
        '',
        body,
      ].join('\r\n'),
  };
}

/** A request within the call that an INVITE began. */
export const requestIn = (invite: Received, method: string, cseq: number, lines: string[] = [], body = ''): string =>
  [
    `${method} ${/<(.*)>/.exec(invite.header('Contact'))?.[1] ?? ''} SIP/2.0`,
    `Via: SIP/2.0/TCP 127.0.0.1:5060;branch=z9hG4bKfar${method}${cseq}`,
    `From: ${invite.header('To')};tag=far`,
    `To: ${invite.header('From')}`,
    `Call-ID: ${invite.header('Call-ID')}`,
    `CSeq: ${cseq} ${method}`,
    'Max-Forwards: 70',
    ...lines,
    ...(body === '' ? [] : ['Content-Type: application/sdp']),
    `Content-Length: ${Buffer.byteLength(body)}`,
    '',
    body,
  ].join('\r\n');

export const CONTACT = 'Contact: <sip:far@127.0.0.1:5099;transport=tcp>';

export const ANSWER = [
  'v=0',
  'o=- 1 1 IN IP4 127.0.0.1',
  's=-',
  'c=IN IP4 127.0.0.1',
  't=0 0',
  'm=audio 40000 RTP/AVP 0 96',
  'a=rtpmap:96 telephone-event/8000',
  '',
].join('\r\n');
