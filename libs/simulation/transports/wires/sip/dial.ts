import { randomBytes, randomInt } from 'node:crypto';
import type { Socket } from 'node:net';
import type { CallHandle, DigestCredentials, SipAddress } from '../../../../sip/index.js';
import { REDACTED } from '../../../../text/index.js';
import { OtherSide } from '../../../other-side/other-side.js';
import { type SentSecrets, sentSecrets } from '../../../other-side/secrets.js';
import { CallFailure, type Failure } from '../../../timeline/failure.js';
import type { JsonValue } from '../../../timeline/text.js';
import { agentUrl } from '../../http/agent-url.js';
import type { AgentCall, AgentEndpoint, PlatformRequest } from '../../modules/endpoint.js';
import type { Dialled, DialOptions, WireSession } from '../../modules/module.js';
import { AnsweredCall } from './answered.js';
import { connectThrough } from './connect.js';
import { masked } from './masked.js';
import { inviteHeaders, needsSrtp } from './options.js';
import { recordedBy } from './records.js';
import { cureOf, failureOfSip } from './refusals.js';
import type { SipState } from './state.js';

export const USER_AGENT = 'voice-agent-testing';
const SRTP_KEY_BYTES = 30;

/** Where an INVITE goes, who answers its challenges, and the headers that it has beside its own. */
export interface SipTarget {
  readonly url: string;
  readonly credentials?: DigestCredentials;
  readonly headers: Readonly<Record<string, string>>;
}

/** What finds the address of a call; by default it is that of the endpoint. */
export type FindTarget = (options: DialOptions) => Promise<SipTarget>;

/** As it is stored: `ended` says that there is no call to end. */
type StoredHandle = CallHandle & { readonly ended?: true };

/** One call that is dialled over SIP. The library for it is loaded in the request thread only. */
export class SipSession implements WireSession<SipState> {
  readonly agent: OtherSide;
  readonly secrets: SentSecrets;
  readonly skippedSteps = {};
  readonly recorded: WireSession['recorded'];
  private handle: CallHandle | undefined;
  /** Why the ledger does not take the call, such as the limits of the day. */
  private refusal: Error | undefined;
  private end: (() => Promise<void>) | undefined;
  private ringing: { readonly atMs: number; hasSound: boolean } | undefined;

  constructor(
    private readonly endpoint: AgentEndpoint,
    private readonly call: AgentCall,
    private readonly findTarget: FindTarget = () => Promise.resolve(this.ownTarget()),
  ) {
    const { line, headers, apiKey, url, shownUrl } = endpoint;
    const { triggerSecret } = endpoint.options as { readonly triggerSecret?: string };
    this.secrets = sentSecrets([apiKey, line?.credentials?.password, triggerSecret], headers, secretUser(url));
    this.agent = new OtherSide(shownUrl ?? shownAddress(url), this.secrets.all);
    this.recorded = recordedBy(endpoint, call);
  }

  cure(step: string, failure: Failure): string | undefined {
    return cureOf(step, failure);
  }

  async dial(options: DialOptions): Promise<Dialled<SipState>> {
    const { signal, onStep, onSignal, bindMedia } = options;
    const { mediaOffer, numberOf, parseSipAddress, SipCall, SipEndpoint } = await import('../../../../sip/index.js');
    const { agent, secrets, endpoint } = this;
    const { url, credentials, headers } = await this.findTarget(options);
    const target = this.read(() => parseSipAddress(url));
    this.read(() => refuseNumber(endpoint, target, numberOf(target.user ?? '')));
    const isSecure = needsSrtp(endpoint.options);
    if (isSecure && target.transport !== 'tls') {
      throw new CallFailure('url_refused', agent.describe({ what: 'srtp needs transport=tls in the address' }));
    }
    const srtpKey = isSecure ? { srtpKey: randomBytes(SRTP_KEY_BYTES).toString('base64') } : {};
    const answered = new AnsweredCall({
      client: this.call.client,
      agent,
      secrets: secrets.all,
      ...srtpKey,
      ...(onSignal && { onSignal }),
    });
    let local = '';
    const onSocket = ({ localAddress = '', remoteAddress = '' }: Socket) => {
      [local, answered.peer] = [unmapped(localAddress), unmapped(remoteAddress)];
    };
    const connect = connectThrough(this.call.client, agent, { signal, onStep, onSocket });
    const sip = await SipEndpoint.open({
      ...{ connect, address: target, userAgent: USER_AGENT, trace: answered.trace },
      ...(credentials && { credentials }),
    });
    try {
      // Nothing translates addresses within a machine.
      if (local !== answered.peer) await sip.learnContact();
      const { publicAddress, ports } = endpoint.line?.media ?? {};
      const port = await bindMedia!(local, ports);
      answered.own = { ...endpoint.line?.media, address: local, port };
      signal.throwIfAborted();
      const offer = mediaOffer({ address: publicAddress ?? local, port, session: randomInt(2 ** 31), ...srtpKey });
      const invitedAt = performance.now();
      const { caller } = endpoint.line ?? {};
      const call = new SipCall(
        sip,
        { target, headers, offer, srtp: isSecure, ...(caller !== undefined && { caller }) },
        {
          ...answered.events,
          handle: (handle) => this.placed(handle),
          progress: (_status, _reason, media) => {
            this.ringing ??= { atMs: performance.now(), hasSound: false };
            this.ringing.hasSound ||= media !== undefined;
          },
          otherNextHop: ({ host, port: at }) => answered.signal({ type: 'next_hop', address: `${host}:${at}` }),
        },
      );
      this.end = async () => {
        try {
          if ((await call.hangUp()) === 'ended' && !this.refusal) await this.closed();
        } finally {
          sip.close();
        }
      };
      const onAbort = () => void call.hangUp().catch(() => undefined);
      signal.addEventListener('abort', onAbort, { once: true });
      const result = await call.result;
      signal.removeEventListener('abort', onAbort);
      if (!('media' in result)) throw this.refusal ?? new CallFailure(failureOfSip(agent, result, isSecure));
      onStep('accepted');
      const events = this.ring(invitedAt);
      return await answered.dialled(result, { events, isTest: options.isTest === true, invitedAt });
    } catch (error) {
      // `hangUp` ends what was dialled.
      if (!this.end) sip.close();
      signal.throwIfAborted();
      throw error;
    }
  }

  async hangUp(): Promise<void> {
    const { end } = this;
    this.end = undefined;
    await end?.();
  }

  /** @throws CallFailure */
  private ownTarget(): SipTarget {
    const { url, headers: own, line: { credentials } = {} } = this.endpoint;
    const { variables = {}, callId } = this.call;
    const headers = this.read(() => inviteHeaders(own, variables, callId), 'override_refused');
    return { url: agentUrl(url, this.call), headers, ...(credentials && { credentials }) };
  }

  private read<T>(work: () => T, code: 'url_refused' | 'override_refused' = 'url_refused'): T {
    try {
      return work();
    } catch (error) {
      throw new CallFailure(code, this.agent.describe({ what: (error as Error).message, isPermanent: true }));
    }
  }

  private async placed(handle: CallHandle): Promise<void> {
    this.handle = handle;
    try {
      await this.call.ledger?.placed(handle as unknown as JsonValue, handle.callId);
    } catch (cause) {
      this.refusal = cause as Error;
      throw cause;
    }
  }

  /** There is nothing left to end. */
  private async closed(): Promise<void> {
    if (!this.handle) return;
    const handle: StoredHandle = { ...this.handle, ended: true };
    await this.call.ledger?.placed(handle as unknown as JsonValue, handle.callId);
  }

  private ring(invitedAt: number): Dialled['found']['events'] {
    if (!this.ringing) return [];
    const seconds = ((performance.now() - invitedAt) / 1_000).toFixed(1);
    const sound = this.ringing.hasSound ? ', with audio of the other side' : '';
    return [{ type: 'note', atMs: 0, detail: `It rang: the call was answered after ${seconds} s${sound}` }];
  }
}

/** The user part of an address that is itself the permission to call it, as ids of rooms and calls are. */
const secretUser = (url: string): string[] => {
  const [, user = ''] = /^sips?:([^@]*)@/i.exec(url) ?? [];
  return user.length >= 16 && /\d/.test(user) && /[a-z]/i.test(user) && !user.includes('{') ? [user] : [];
};

const shownAddress = (url: string): string =>
  secretUser(url).reduce((shown, user) => shown.replace(user, REDACTED), masked(url));

/** Numbers are dialled by the rules of the operator only, which give the endpoint its line. @throws Error */
function refuseNumber({ line }: AgentEndpoint, { host }: SipAddress, number: string | undefined): void {
  if (number !== undefined && !line) throw new Error(`telephone numbers are not dialled at ${host}`);
}

/** An IPv4 address of a socket for both families as it is. */
const unmapped = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, '');

/** Ends a call that perhaps another process made. @throws CallFailure if it may still be open */
export async function endCall(stored: JsonValue, { endpoint, client, signal }: PlatformRequest): Promise<void> {
  const handle = stored as unknown as StoredHandle;
  if (handle.ended) return;
  const { addressText, end, parseSipAddress } = await import('../../../../sip/index.js');
  const { line, shownUrl = masked(addressText(handle.address)) } = endpoint;
  const agent = new OtherSide(shownUrl, [line?.credentials?.password ?? []].flat());
  const isOwnHost = (url: string, { host, port }: SipAddress) => {
    try {
      const own = parseSipAddress(url);
      return own.host === host && own.port === port;
    } catch {
      return false;
    }
  };
  const credentials = isOwnHost(endpoint.url, handle.address) ? line?.credentials : undefined;
  const options = { connect: connectThrough(client, agent, { signal }), userAgent: USER_AGENT };
  const ending = await end({ ...options, address: handle.address, ...(credentials && { credentials }) }, handle);
  if (ending === 'unknown') {
    throw new CallFailure('platform_unended', agent.describe({ what: 'neither BYE nor CANCEL was answered' }));
  }
}
