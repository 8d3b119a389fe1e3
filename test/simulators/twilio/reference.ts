import type { IncomingMessage, ServerResponse } from 'node:http';
import { isHealthy } from '../agent/faults.js';
import { noSuchFault } from '../agent/voice/platform-faults.js';
import type { PreparedVoice } from '../agent/voice/prepare.js';
import type { AnswerStamp, VoiceAgentOptions } from '../agent/voice/voice-agent.js';
import { preparedOnce } from '../agent/voice/voice-service.js';
import { isTelephoneFault, plantedBy, type TelephoneFaultName } from '../agent/voice/word-faults.js';
import {
  type Beginning,
  connectStream,
  dial,
  HANG_UP,
  streamOriginOf,
  type TwilioAgents,
  type Webhook,
} from './messages.js';
import type { TelephoneOptions } from './server.js';
import { TwilioAgentSession } from './session.js';

export interface ReferenceTelephoneOptions
  extends
    TelephoneOptions,
    Omit<VoiceAgentOptions, 'today' | 'voice' | 'recogniser' | 'onAnswer' | 'fault' | 'wordFault'> {
  readonly fault?: TelephoneFaultName;
  readonly now?: () => number;
  /** Synthesises what the agent speaks and hears with. */
  readonly prepare: () => Promise<PreparedVoice>;
  /** Called with the agent's own times of each answer, on the clock of `performance.now()`. */
  readonly onAnswer?: (callSid: string, stamp: AnswerStamp) => void;
}

/** Number that a caller is put through to. */
export const COLLEAGUE = '+15550100199';

/** The colon may be encoded: the testing service encodes what it puts in place of `{assistantId}`. */
const ADDRESS = /^(?:\/agents\/booking(?::|%3A)([a-z-]{1,40}))?\/(voice|voice\/ended|media)$/;
const PLATFORM = 'twilio-media-streams';
const MAX_TRANSFERS = 1_000;

/** The reference agent on the telephone: one agent without a fault, and one with each fault. */
export class ReferenceTelephone implements TwilioAgents {
  private readonly transfers = new Set<string>();
  readonly prepare = preparedOnce(() => this.options.prepare());

  constructor(private readonly options: ReferenceTelephoneOptions) {}

  hasWebhook(method: string, path: string): boolean {
    const { action = 'media' } = this.addressOf(path);
    return method === 'POST' && action !== 'media';
  }

  async answer({ path, form, origin }: Webhook, response: ServerResponse): Promise<string | void> {
    const { isUnknown, action } = this.addressOf(path);
    if (isUnknown) {
      return void response.writeHead(404, { 'Content-Type': 'text/plain; charset=utf-8' }).end(noSuchFault(PLATFORM));
    }
    if (action === 'voice/ended') return this.transfers.delete(form['CallSid'] ?? '') ? dial(COLLEAGUE) : HANG_UP;
    // The media stream must be heard from its first message on.
    await this.prepare();
    const base = path.replace(/voice$/, '');
    return connectStream(`${streamOriginOf(origin)}${base}media`, `${base}voice/ended`);
  }

  async begin({ url = '' }: IncomingMessage): Promise<Beginning> {
    const { isUnknown, action, fault } = this.addressOf(url);
    if (action !== 'media') return ['404 Not Found'];
    if (isUnknown) return ['404 Not Found', noSuchFault(PLATFORM)];
    const prepared = await this.prepare().catch(() => undefined);
    if (!prepared) return ['503 Service Unavailable'];
    const { now = Date.now, onAnswer, fault: _fault, ...options } = this.options;
    return (socket) => {
      const close = () => {
        if (session.transfers) this.transfer(session.callSid);
        socket.close();
      };
      const session: TwilioAgentSession = new TwilioAgentSession(
        { ...socket, close },
        {
          ...options,
          ...prepared,
          ...plantedBy(fault),
          today: now(),
          // The stamp is from the arrival of the last message; recognising the line took until now.
          onAnswer: (stamp) => onAnswer?.(session.callSid, { ...stamp, firstByteMs: performance.now() }),
        },
      );
      return session;
    };
  }

  private transfer(callSid: string): void {
    this.transfers.add(callSid);
    // Calls whose end is never asked for must not add up.
    if (this.transfers.size > MAX_TRANSFERS) this.transfers.delete(this.transfers.values().next().value ?? '');
  }

  /** `isUnknown` if it names a fault that does not exist over this protocol; there is no `action` at other addresses. */
  private addressOf(url: string) {
    const [, name, action] = ADDRESS.exec(url.split('?')[0]!) ?? [];
    const fault = name === undefined ? this.options.fault : isTelephoneFault(name) ? name : undefined;
    return { fault, action, isUnknown: name !== undefined && !isHealthy(name) && !isTelephoneFault(name) };
  }
}
