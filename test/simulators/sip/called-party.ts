import { randomBytes } from 'node:crypto';
import { createServer, type Server, type Socket } from 'node:net';

/** Where the caller takes sound, as its INVITE says. */
export interface OfferedMedia {
  readonly address: string;
  readonly port: number;
  /** Payload type of keys. */
  readonly keys: number | undefined;
}

interface Message {
  readonly start: string;
  readonly body: string;
  header(name: string): string;
}

/** A call that came. `answer` first; then `hangUp` or `transfer` end it. */
export class ReceivedCall {
  /** User part of the address that was called, decoded. */
  readonly user: string;
  readonly callId: string;
  readonly media: OfferedMedia;
  onEnd: () => void = () => undefined;
  private readonly tag = randomBytes(6).toString('hex');
  private cseq = 0;
  private isOver = false;

  constructor(
    private readonly invite: Message,
    private readonly socket: Socket,
    private readonly contact: string,
  ) {
    this.user = decodeURIComponent(/^INVITE sip:([^@;]*)@/.exec(invite.start)?.[1] ?? '');
    this.callId = invite.header('Call-ID');
    const sdp = (pattern: RegExp): string => pattern.exec(invite.body)?.[1] ?? '';
    const keys = sdp(/^a=rtpmap:(\d+) telephone-event\/8000/m);
    this.media = {
      address: sdp(/^c=IN IP4 (\S+)/m),
      port: Number(sdp(/^m=audio (\d+)/m)),
      keys: keys === '' ? undefined : Number(keys),
    };
  }

  ring(): void {
    this.respond(this.invite, '180 Ringing');
  }

  answer(address: string, port: number): void {
    const keys = this.media.keys === undefined ? '' : ` ${this.media.keys}`;
    const names = keys === '' ? [] : [`a=rtpmap:${keys.trim()} telephone-event/8000`];
    const media = [`m=audio ${port} RTP/AVP 0${keys}`, 'a=rtpmap:0 PCMU/8000', ...names, 'a=ptime:20', ''];
    const session = ['v=0', `o=- 1 1 IN IP4 ${address}`, 's=-', `c=IN IP4 ${address}`, 't=0 0'];
    this.respond(this.invite, '200 OK', [...session, ...media].join('\r\n'));
  }

  /** Ends a call that was not answered. @param status such as `404 Not Found` */
  refuse(status: string): void {
    this.respond(this.invite, status);
    this.isOver = true;
  }

  /** Of the INVITE; empty without. */
  header(name: string): string {
    return this.invite.header(name);
  }

  /** A request or response of the caller within this call. */
  receive(message: Message): void {
    const [method] = message.start.split(' ', 1);
    if (method === 'CANCEL') {
      this.respond(message, '200 OK');
      this.respond(this.invite, '487 Request Terminated');
    } else if (method !== 'ACK' && method !== 'SIP/2.0') this.respond(message, '200 OK');
    if (method === 'CANCEL' || method === 'BYE') this.over();
  }

  hangUp(): void {
    if (this.isOver) return;
    this.request('BYE');
    this.over();
  }

  transfer(target: string): void {
    if (!this.isOver) this.request('REFER', [`Refer-To: <${target}>`]);
  }

  over(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.onEnd();
  }

  private request(method: string, lines: readonly string[] = []): void {
    const target = /<(.*?)>/.exec(this.invite.header('Contact'))?.[1] ?? '';
    const own = `From: ${this.invite.header('To')};tag=${this.tag}`;
    const via = `Via: SIP/2.0/TCP ${this.contact};branch=z9hG4bK${randomBytes(6).toString('hex')}`;
    const dialog = [`${method} ${target} SIP/2.0`, via, own, `To: ${this.invite.header('From')}`];
    const number = [`Call-ID: ${this.callId}`, `CSeq: ${++this.cseq} ${method}`, 'Max-Forwards: 70'];
    this.write([...dialog, ...number, `Contact: <sip:agent@${this.contact};transport=tcp>`, ...lines], '');
  }

  private respond(to: Message, status: string, body = ''): void {
    const tagged = to.header('To').includes('tag=') ? to.header('To') : `${to.header('To')};tag=${this.tag}`;
    const kept = ['Via', 'From', 'Call-ID', 'CSeq'].map((name) => `${name}: ${to.header(name)}`);
    const contact = `Contact: <sip:agent@${this.contact};transport=tcp>`;
    this.write([`SIP/2.0 ${status}`, `To: ${tagged}`, ...kept, contact], body);
  }

  private write(lines: readonly string[], body: string): void {
    const type = body === '' ? [] : ['Content-Type: application/sdp'];
    if (!this.socket.writable) return;
    this.socket.write([...lines, ...type, `Content-Length: ${Buffer.byteLength(body)}`, '', body].join('\r\n'));
  }
}

/** Answers SIP over TCP at 127.0.0.1, as far as calls of a well-behaved caller need it. It shares no code with the caller. */
export class CalledParty {
  private constructor(
    private readonly server: Server,
    readonly address: string,
  ) {}

  static async listen(onCall: (call: ReceivedCall) => void, port = 0): Promise<CalledParty> {
    const server = createServer();
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, '127.0.0.1', resolve);
    });
    const bound = server.address();
    const address = `127.0.0.1:${typeof bound === 'object' && bound ? bound.port : 0}`;
    server.on('connection', (socket) => serve(socket, address, onCall));
    return new CalledParty(server, address);
  }

  close(): void {
    this.server.close();
  }
}

function serve(socket: Socket, address: string, onCall: (call: ReceivedCall) => void): void {
  const calls = new Map<string, ReceivedCall>();
  let pending = '';
  socket.on('error', () => socket.destroy());
  socket.on('close', () => calls.forEach((call) => call.over()));
  socket.on('data', (chunk) => {
    pending = (pending + chunk.toString('utf8')).replace(/^(\r\n)+/, '');
    for (let end = pending.indexOf('\r\n\r\n'); end >= 0; end = pending.indexOf('\r\n\r\n')) {
      const head = pending.slice(0, end);
      const length = Number(/^content-length:\s*(\d+)/im.exec(head)?.[1] ?? 0);
      if (pending.length < end + 4 + length) return;
      const message = messageOf(head, pending.slice(end + 4, end + 4 + length));
      pending = pending.slice(end + 4 + length).replace(/^(\r\n)+/, '');
      const known = calls.get(message.header('Call-ID'));
      if (known) known.receive(message);
      else if (message.start.startsWith('INVITE ')) {
        const call = new ReceivedCall(message, socket, address);
        calls.set(call.callId, call);
        onCall(call);
      } else if (message.start.startsWith('OPTIONS ')) new ReceivedCall(message, socket, address).receive(message);
    }
  });
}

function messageOf(head: string, body: string): Message {
  const [start = '', ...lines] = head.split('\r\n');
  const header = (name: string): string =>
    lines
      .find((line) => line.toLowerCase().startsWith(`${name.toLowerCase()}:`))
      ?.slice(name.length + 1)
      .trim() ?? '';
  return { start, body, header };
}
