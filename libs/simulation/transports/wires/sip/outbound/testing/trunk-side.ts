import { OutboundPlatforms } from '../../../../../../../test/simulators/outbound/server.js';
import { OutboundClient } from '../../../../../../outbound-http/index.js';
import { ANSWER, FarSide, type Received } from '../../../../../../sip/testing/far-side.js';
import type { JsonValue } from '../../../../../timeline/text.js';
import type { AgentCall, AgentEndpoint } from '../../../../modules/endpoint.js';

export const OURS = '+4930100001';
export const THEIRS = '+4930900001';
export const ATTEMPT = '0b7f8a52-77d1-4a0e-8b5e-1f8d0a6c9e21';
export const KEY = 'key-0123456789abcdef';

export interface Invite {
  readonly from?: string;
  /** User of the Request-URI; by default that of our Contact. */
  readonly user?: string;
  readonly body?: string;
}

/** A registrar that passes calls on, the platforms that ask for them, and a call of an agent. */
export class TrunkSide {
  readonly placed: JsonValue[] = [];
  /** How long a call may come, as it was written last. */
  expectedMs: number | undefined;
  private registered: Received | undefined;
  private calls = 0;

  private constructor(
    readonly platforms: OutboundPlatforms,
    readonly farSide: FarSide,
  ) {}

  static async open(): Promise<TrunkSide> {
    const platforms = await OutboundPlatforms.start();
    const farSide = await FarSide.open((request, send) => {
      if (request.method === 'REGISTER') side.registered = request;
      if (/^[A-Z]/.test(request.method) && request.method !== 'ACK') send(request.reply('200 OK'));
    });
    const side: TrunkSide = new TrunkSide(platforms, farSide);
    return side;
  }

  async close(): Promise<void> {
    await this.farSide.close();
    await this.platforms.stop();
  }

  /** Over the connection that was registered last. */
  write(head: readonly string[], body = ''): void {
    const description = body === '' ? [] : ['Content-Type: application/sdp'];
    const text = [...head, ...description, `Content-Length: ${body.length}`, '', body].join('\r\n');
    this.farSide.sockets.at(-1)?.write(text);
  }

  invite({ from = `<sip:${THEIRS}@carrier.example>`, user, body = ANSWER }: Invite = {}): void {
    this.calls += 1;
    const target = this.target.replace(/:[^@]*@/, (own) => (user === undefined ? own : `:${user}@`));
    this.write(this.head('INVITE', this.calls, { from, target }), body);
  }

  /** A request within a call that was answered, or its CANCEL. */
  request(method: 'ACK' | 'BYE' | 'CANCEL', { call = 1, toTag = '', body = '' } = {}): void {
    this.write(this.head(method, call, { toTag }), body);
  }

  readonly endpoint = (more: Partial<AgentEndpoint> = {}): AgentEndpoint => {
    const options = { trigger: `retell:${this.platforms.url}`, ...more.options };
    const common = { protocol: 'sip', url: 'sip:trunk.example', headers: {}, firstSpeaker: null, apiKey: KEY };
    return { ...common, ...more, options };
  };

  get call(): AgentCall & Required<Pick<AgentCall, 'answersAt'>> {
    const { host, port } = this.farSide.address;
    const account = { trunk: `sip:${host}:${port};transport=tcp`, user: 'me', password: 'secret', number: OURS };
    return {
      client: new OutboundClient({ allowedNetworks: ['127.0.0.0/8'] }),
      ...{ workspaceId: 'w', assistantId: 'agent-1', phoneNumber: THEIRS, callId: ATTEMPT },
      variables: { name: 'Rossi', people: 4 },
      answersAt: { account, expect: (ms) => Promise.resolve(void (this.expectedMs = ms)) },
      ledger: {
        placed: (handle) => Promise.resolve(void this.placed.push(handle)),
        identified: () => Promise.resolve(),
        paid: () => Promise.resolve(),
      },
    };
  }

  private get target(): string {
    return /<(.*)>/.exec(this.registered?.header('Contact') ?? '')?.[1] ?? '';
  }

  private head(
    method: string,
    call: number,
    {
      from = `<sip:${THEIRS}@carrier.example>`,
      target = this.target,
      toTag = '',
    }: { from?: string; target?: string; toTag?: string },
  ): string[] {
    const isOwn = method === 'INVITE' || method === 'CANCEL';
    return [
      `${method} ${target} SIP/2.0`,
      `Via: SIP/2.0/TCP 127.0.0.1:5060;branch=z9hG4bKcall${call}${isOwn ? '' : method}`,
      `From: ${from};tag=them`,
      `To: <sip:${OURS}@trunk.example>${toTag === '' ? '' : `;tag=${toTag}`}`,
      `Call-ID: call-${call}`,
      `CSeq: ${method === 'BYE' ? 2 : 1} ${method}`,
      'Max-Forwards: 70',
      'Contact: <sip:far@127.0.0.1:5099;transport=tcp>',
    ];
  }
}
