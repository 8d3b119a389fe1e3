import { OutboundError, type OutboundResponse } from '../../../../outbound-http/index.js';
import { retryAfterMs } from '../../../../text/index.js';
import { OtherSide, secretsOfUrl, withoutSecrets } from '../../../other-side/other-side.js';
import { type SentSecrets, sentSecrets } from '../../../other-side/secrets.js';
import { CallFailure } from '../../../timeline/failure.js';
import { agentUrl } from '../../http/agent-url.js';
import { codeOfStatus, OUTBOUND_CODES, systemError } from '../../http/outbound-failures.js';
import type { AgentCall, AgentEndpoint } from '../../modules/endpoint.js';
import type { Dialled, WireSession } from '../../modules/module.js';
import { addressQuery, type ElevenLabsOptions, initiation } from './options.js';
import { cureOf, refusedRequest } from './refusals.js';
import type { ElevenLabsState } from './wire.js';

const PATH = '/v1/convai/conversation/get-signed-url';
const VENDOR_HOST = /(^|\.)elevenlabs\.io\.?$/i;
const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/i;
const TIMEOUT_MS = 15_000;
const MAX_ANSWER = 64 * 1024;

/** Where a conversation is reached; a secret in all but its origin. */
export interface SignedAddress {
  readonly url: string;
  /** What is shown of it. */
  readonly shown: string;
  readonly secrets: readonly string[];
}

interface SignOptions {
  readonly signal?: AbortSignal;
  readonly onStep?: (step: string) => void;
}

/** One call of an agent: the account that reaches it, and its signed address. */
export class Account {
  readonly platform: OtherSide;
  readonly secrets: SentSecrets;

  constructor(
    private readonly endpoint: AgentEndpoint,
    private readonly call: AgentCall,
  ) {
    const { url, shownUrl = withoutSecrets(url), apiKey, headers } = endpoint;
    this.secrets = sentSecrets([apiKey], headers, secretsOfUrl(url));
    this.platform = new OtherSide(agentUrl(shownUrl, call), this.secrets.all);
  }

  /** The key is sent in this request alone. @throws CallFailure; the signal's reason */
  async signedAddress({ signal, onStep }: SignOptions = {}): Promise<SignedAddress> {
    const { apiKey, headers } = this.endpoint;
    const { assistantId, callId, client, ledger } = this.call;
    const url = new URL(agentUrl(this.endpoint.url, this.call));
    if (url.protocol !== 'https:' && VENDOR_HOST.test(url.hostname)) {
      const what = 'a key is sent to the platform over TLS only: its address must begin with https://';
      throw new CallFailure('connection_failed', this.platform.describe({ what, isPermanent: true }));
    }
    url.pathname = url.pathname.replace(/\/+$/, '') + PATH;
    for (const [name, value] of Object.entries(addressQuery(this.call))) url.searchParams.set(name, value);
    let response: OutboundResponse;
    try {
      response = await client.request({
        ...{ url: url.href, method: 'GET', timeoutMs: TIMEOUT_MS, maxBodyBytes: MAX_ANSWER },
        headers: { ...headers, ...(apiKey !== undefined && { 'xi-api-key': apiKey }), 'x-call-id': callId },
        ...(signal && { signal }),
        ...(onStep && { onPhase: onStep }),
      });
    } catch (cause) {
      if (!(cause instanceof OutboundError)) throw cause;
      signal?.throwIfAborted();
      throw new CallFailure(OUTBOUND_CODES[cause.reason], this.platform.describe({ what: systemError(cause) }), {
        cause,
      });
    }
    const { status, headers: answered } = response;
    const said = response.body.toString('utf8');
    if (status < 200 || status >= 300) {
      const refusal = { status, said, retryAfterMs: retryAfterMs(answered['retry-after']) };
      throw new CallFailure(refusedRequest(this.platform, refusal, codeOfStatus(status)));
    }
    onStep?.('accepted');
    const address = signedAddressOf(said, assistantId);
    if (address) {
      // No request ends a conversation: it ends with its socket, so nothing is needed for that.
      await ledger?.placed(null);
      return address;
    }
    // What it said is not shown: it may be an address that can be called.
    const what = 'its answer has no signed_url that begins with wss://';
    throw new CallFailure('bad_response', this.platform.describe({ what }));
  }
}

/** One voice call: the signed address is dialled without any of our headers. */
export function elevenlabsSession(endpoint: AgentEndpoint, call: AgentCall): WireSession<ElevenLabsState> {
  const account = new Account(endpoint, call);
  const { platform, secrets } = account;
  const options: ElevenLabsOptions = endpoint.options;
  return {
    agent: platform,
    secrets,
    skippedSteps: {},
    cure: (_step, failure) => cureOf(failure),
    dial: async (dialling): Promise<Dialled<ElevenLabsState>> => {
      const address = await account.signedAddress(dialling);
      return {
        socket: { url: address.url, headers: {}, shownUrl: address.shown },
        state: {
          initiation: initiation(call, options),
          sendsActivity: options.userActivity ?? true,
          signature: address.secrets,
          secrets: [...secrets.all, ...address.secrets],
        },
        sounds: [],
        found: { findings: [], events: [] },
      };
    },
  };
}

/** @returns undefined for what is not one, or would be dialled without TLS beyond this machine */
function signedAddressOf(body: string, assistantId: string): SignedAddress | undefined {
  let signed: unknown;
  try {
    signed = (JSON.parse(body) as { signed_url?: unknown } | null)?.signed_url;
  } catch {
    return undefined;
  }
  if (typeof signed !== 'string' || !URL.canParse(signed)) return undefined;
  const { protocol, hostname, username, password, hash, host } = new URL(signed);
  const isEncrypted = protocol === 'wss:' || (protocol === 'ws:' && LOOPBACK.test(hostname));
  if (!isEncrypted || username !== '' || password !== '' || hash !== '') return undefined;
  const secrets = secretsOfUrl(signed).filter((value) => value !== assistantId);
  return { url: signed, shown: `${protocol}//${host}, the signed address`, secrets };
}
