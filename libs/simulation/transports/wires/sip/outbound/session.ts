import { randomBytes, randomInt } from 'node:crypto';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  addressText,
  type CallHandle,
  type DigestCredentials,
  end,
  type MediaAnswer,
  type MediaRefusal,
  type SessionEvents,
} from '../../../../../sip/index.js';
import { OtherSide } from '../../../../other-side/other-side.js';
import { type SentSecrets, sentSecrets } from '../../../../other-side/secrets.js';
import { CallFailure, type Failure } from '../../../../timeline/failure.js';
import type { JsonValue } from '../../../../timeline/text.js';
import type { AgentCall, AgentEndpoint, AnsweringNumber, PlatformRequest } from '../../../modules/endpoint.js';
import type { Dialled, DialOptions, WireSession } from '../../../modules/module.js';
import { AnsweredCall } from '../answered.js';
import { connectThrough } from '../connect.js';
import { masked } from '../masked.js';
import { needsSrtp } from '../options.js';
import { recordedBy } from '../records.js';
import { cureOf, failureOfSip } from '../refusals.js';
import type { SipState } from '../state.js';
import { type CalledBack, calledBack } from './called-back.js';
import { endTriggered } from './triggers.js';

const USER_AGENT = 'voice-agent-testing';
const SRTP_KEY_BYTES = 30;
/** For the description of the caller, if its INVITE has none: it comes with its ACK. */
const MEDIA_MS = 10_000;

/** What ends the call from any process. */
export interface OutboundHandle {
  /** What its platform needs to end it. */
  readonly triggered: JsonValue;
  /** From the answer on. */
  readonly call?: CallHandle;
  readonly credentials: DigestCredentials;
  readonly ended?: true;
}

export const isOutbound = (handle: JsonValue): handle is JsonValue & OutboundHandle =>
  typeof handle === 'object' && handle !== null && 'triggered' in handle;

/** One call of an agent that calls the tester: it is asked to, and its call is answered. */
export class OutboundSession implements WireSession<SipState> {
  readonly agent: OtherSide;
  readonly secrets: SentSecrets;
  readonly skippedSteps = {};
  readonly recorded: WireSession['recorded'];
  private id: string | null = null;
  private end: (() => Promise<void>) | undefined;

  constructor(
    private readonly endpoint: AgentEndpoint,
    private readonly call: AgentCall,
    private readonly answersAt: AnsweringNumber,
  ) {
    const { apiKey, headers, options } = endpoint;
    const { trunk, password } = answersAt.account;
    const { triggerSecret } = options as { readonly triggerSecret?: string };
    this.secrets = sentSecrets([apiKey, password, triggerSecret], headers, []);
    this.agent = new OtherSide(trunk, this.secrets.all);
    this.recorded = recordedBy(endpoint, call, () => this.id);
  }

  cure(step: string, failure: Failure): string | undefined {
    return cureOf(step, failure);
  }

  async dial(options: DialOptions): Promise<Dialled<SipState>> {
    const { signal, onStep, onSignal, isTest = false } = options;
    const { client } = this.call;
    const { agent, secrets, answersAt } = this;
    const srtp = needsSrtp(this.endpoint.options);
    const srtpKey = srtp ? { srtpKey: randomBytes(SRTP_KEY_BYTES).toString('base64') } : {};
    const answered = new AnsweredCall({
      client,
      agent,
      secrets: secrets.all,
      ...srtpKey,
      ...(onSignal && { onSignal }),
    });
    let local = '';
    const onSocket = ({ localAddress = '', remoteAddress = '' }: Socket) => {
      [local, answered.peer] = [unmapped(localAddress), unmapped(remoteAddress)];
    };
    const back = await calledBack(
      this.endpoint,
      { ...this.call, answersAt },
      {
        ...{ userAgent: USER_AGENT, trace: answered.trace, srtp, signal },
        connect: connectThrough(client, agent, { signal, onStep, onSocket }),
        failed: (failure) => new CallFailure(failureOfSip(agent, failure, srtp)),
      },
    );
    this.end = () => back.end();
    this.id = back.triggered.id;
    signal.throwIfAborted();
    const { media: own = {} } = this.endpoint.line ?? {};
    const port = await options.bindMedia!(local, own.ports);
    answered.own = { ...own, address: local, port };
    const offer = { address: own.publicAddress ?? local, port, session: randomInt(2 ** 31), ...srtpKey };
    const { user, password } = answersAt.account;
    const handle = { triggered: back.triggered.handle, call: back.incoming.handle, credentials: { user, password } };
    await this.placed(handle, back);
    const media = await this.answer(back, offer, answered, handle);
    onStep('accepted');
    return answered.dialled({ media, answeredAt: performance.now() }, { isTest });
  }

  async hangUp(): Promise<void> {
    const { end } = this;
    this.end = undefined;
    await end?.();
  }

  /** @returns where the caller receives sound @throws CallFailure if that cannot be used, or the caller has given up */
  private async answer(
    back: CalledBack,
    own: Parameters<CalledBack['incoming']['answer']>[0],
    answered: AnsweredCall,
    handle: OutboundHandle,
  ): Promise<MediaAnswer> {
    const { incoming } = back;
    if (incoming.media && 'refused' in incoming.media) {
      incoming.refuse(488);
      throw this.unusable(incoming.media);
    }
    let described: ((media: MediaAnswer) => void) | undefined;
    const later = new Promise<MediaAnswer>((resolve) => (described = incoming.media ? undefined : resolve));
    const events: SessionEvents = {
      ...answered.events,
      media: (media) => {
        if (!described) return answered.events.media?.(media) ?? false;
        described(media);
        described = undefined;
        return true;
      },
    };
    let hangUp;
    try {
      hangUp = incoming.answer(own, events);
    } catch (cause) {
      throw new CallFailure('no_call_came', this.agent.describe({ what: 'the agent gave up while it rang' }), {
        cause,
      });
    }
    back.endpoint.listener = {
      ...back.endpoint.listener,
      closed: (cause) => answered.events.ended?.('connection', cause?.message ?? 'the connection was closed'),
    };
    this.end = async () => {
      try {
        if ((await hangUp()) === 'ended') await this.placed({ ...handle, ended: true }, back);
      } finally {
        await back.end();
      }
    };
    const none = { refused: 'unreadable', reason: 'neither INVITE nor ACK had a description' } as const;
    const media = incoming.media ?? (await Promise.race([later, sleep(MEDIA_MS, undefined, { ref: false })]));
    if (!media) throw this.unusable(none);
    return media;
  }

  private unusable({ refused, reason }: MediaRefusal): CallFailure {
    const failure = refused === 'no_g711' || refused === 'srtp' ? 'codec_refused' : 'broken';
    return new CallFailure(failureOfSip(this.agent, { failure, reason }, needsSrtp(this.endpoint.options)));
  }

  private async placed(handle: OutboundHandle, { triggered, incoming }: CalledBack): Promise<void> {
    await this.call.ledger?.placed(handle as unknown as JsonValue, triggered.id ?? incoming.handle.callId);
  }
}

const unmapped = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, '');

/** Ends a call that an agent made, or will make. @throws CallFailure if it may still be open */
export async function endOutbound(handle: OutboundHandle, request: PlatformRequest): Promise<void> {
  const { triggered, call, credentials, ended } = handle;
  if (ended) return;
  if (!call) return endTriggered(triggered, request);
  const { client, signal } = request;
  const agent = new OtherSide(masked(addressText(call.address)), [credentials.password]);
  const options = { connect: connectThrough(client, agent, { signal }), address: call.address, userAgent: USER_AGENT };
  const ending = await end({ ...options, credentials }, call);
  if (ending === 'unknown') throw new CallFailure('platform_unended', agent.describe({ what: 'BYE was not answered' }));
}
