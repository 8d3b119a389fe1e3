import { WebSocket } from 'ws';
import { CalledParty, type ReceivedCall } from './called-party.js';
import { RtpLine, type RtpLineOptions } from './rtp-line.js';

interface FromAgent {
  readonly event?: string;
  readonly media?: { readonly payload?: string };
  readonly mark?: { readonly name?: string };
}

/** Puts an agent that speaks Twilio Media Streams behind SIP, as the voice platforms with trunks do. */
export class SipGateway {
  private constructor(private readonly party: CalledParty) {}

  /** @param agentUrl of the server of the agents; the user of the address that is called is the name of one of them */
  static async start(agentUrl: string, options: RtpLineOptions = {}): Promise<SipGateway> {
    let calls = 0;
    const party = await CalledParty.listen((call) => {
      const seed = (options.seed ?? 1) + ++calls;
      bridge(call, `${agentUrl}/agents/${call.user}`, { ...options, seed }).catch(() => call.hangUp());
    });
    return new SipGateway(party);
  }

  /** @param agent its name, such as `booking:healthy` */
  urlOf(agent: string): string {
    return `sip:${encodeURIComponent(agent)}@${this.party.address}`;
  }

  close(): void {
    this.party.close();
  }
}

async function bridge(call: ReceivedCall, agentUrl: string, options: RtpLineOptions): Promise<void> {
  call.ring();
  const line = await RtpLine.open(call.media, options);
  const agent = new WebSocket(`${agentUrl.replace(/^http/, 'ws')}/media`);
  call.onEnd = () => {
    line.close();
    agent.close();
  };
  await new Promise((resolve, reject) => {
    agent.once('open', resolve);
    agent.on('error', reject);
    agent.on('close', reject);
  });
  const [streamSid, callSid] = [`MZ${call.callId}`, call.callId];
  const send = (message: object): void => {
    if (agent.readyState === WebSocket.OPEN) agent.send(JSON.stringify(message));
  };
  line.onSound = (mulaw, timestampMs) =>
    send({
      event: 'media',
      streamSid,
      media: { track: 'inbound', timestamp: String(timestampMs), payload: Buffer.from(mulaw).toString('base64') },
    });
  line.onKey = (digit) => send({ event: 'dtmf', streamSid, dtmf: { track: 'inbound_track', digit } });
  line.onMark = (name) => send({ event: 'mark', streamSid, mark: { name } });
  agent.on('message', (data: Buffer) => {
    const { event, media, mark } = JSON.parse(data.toString('utf8')) as FromAgent;
    if (event === 'media') line.play(Buffer.from(media?.payload ?? '', 'base64'));
    else if (event === 'mark' && mark?.name !== undefined) line.mark(mark.name);
    else if (event === 'clear') line.clear();
  });
  agent.on('close', () => void leave(call, agentUrl));
  send({ event: 'connected', protocol: 'Call', version: '1.0.0' });
  send({ event: 'start', streamSid, start: { streamSid, callSid, tracks: ['inbound'], customParameters: {} } });
  call.answer('127.0.0.1', line.port);
}

/** The agent has ended the stream: what follows is in its TwiML. */
async function leave(call: ReceivedCall, agentUrl: string): Promise<void> {
  const body = new URLSearchParams({ CallSid: call.callId });
  const next = await fetch(`${agentUrl}/voice/ended`, { method: 'POST', body }).then(
    (response) => response.text(),
    () => '',
  );
  const colleague = /<Dial[^>]*>\s*(?:<Number>)?([^<\s]+)/.exec(next)?.[1];
  if (colleague === undefined) return call.hangUp();
  call.transfer(`sip:${colleague}@127.0.0.1`);
  setTimeout(() => call.hangUp(), 2_000);
}
