import { secretsOfUrl, withoutSecrets } from '../../../other-side/other-side.js';
import { CallFailure } from '../../../timeline/failure.js';
import { agentUrl } from '../../http/agent-url.js';
import { type ForeignAddress, foreignAddress } from '../../http/foreign-address.js';
import type { AgentCall, AgentEndpoint } from '../../modules/endpoint.js';
import type { Dialled, WireSession } from '../../modules/module.js';
import { Api } from './api.js';
import { addressQuery, type ElevenLabsOptions, initiation } from './options.js';
import { cureOf, refusedAddress } from './refusals.js';
import type { ElevenLabsState } from './wire.js';

const PATH = '/v1/convai/conversation/get-signed-url';
const MAX_ANSWER = 64 * 1024;

interface SignOptions {
  readonly signal?: AbortSignal;
  readonly onStep?: (step: string) => void;
}

/** One call of an agent, over voice or in text. */
export class Account extends Api {
  constructor(
    endpoint: AgentEndpoint,
    private readonly call: AgentCall,
  ) {
    const { url, shownUrl = withoutSecrets(url), apiKey, headers } = endpoint;
    const [base, shown] = [agentUrl(url, call), agentUrl(shownUrl, call)];
    super({ client: call.client, url: base, shownUrl: shown, apiKey, headers }, secretsOfUrl(url));
  }

  /** @throws CallFailure; the signal's reason */
  async signedAddress({ signal, onStep }: SignOptions = {}): Promise<ForeignAddress> {
    const { assistantId, callId, ledger } = this.call;
    const said = await this.get(PATH, {
      query: addressQuery(this.call),
      headers: { 'x-call-id': callId },
      ...{ maxBytes: MAX_ANSWER, signal, onStep },
    });
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
    refused: (failure) => refusedAddress(platform, failure),
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
function signedAddressOf(body: string, assistantId: string): ForeignAddress | undefined {
  let signed: unknown;
  try {
    signed = (JSON.parse(body) as { signed_url?: unknown } | null)?.signed_url;
  } catch {
    return undefined;
  }
  const address = foreignAddress(signed, 'wss', 'the signed address');
  return address && { ...address, secrets: address.secrets.filter((value) => value !== assistantId) };
}
