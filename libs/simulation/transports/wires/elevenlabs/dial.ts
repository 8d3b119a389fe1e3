import { type ForeignAddress, foreignAddress } from '../../http/foreign-address.js';
import { PlatformApi } from '../../http/platform-api.js';
import type { AgentCall, AgentEndpoint } from '../../modules/endpoint.js';
import type { Dialled, WireSession } from '../../modules/module.js';
import { addressQuery, type ElevenLabsOptions, initiation } from './options.js';
import { cureOf, ELEVENLABS_RULES, refusedAddress } from './refusals.js';
import type { ElevenLabsState } from './wire.js';

const PATH = '/v1/convai/conversation/get-signed-url';
const NO_WORDS =
  'Switch on the client event agent_response of the agent, or let a transcription server hear it (STT_BASE_URL).';

interface SignOptions {
  readonly signal?: AbortSignal;
  readonly onStep?: (step: string) => void;
}

/** Where one call of an agent, over voice or in text, is made. @throws CallFailure; the signal's reason */
export async function signedAddress(
  api: PlatformApi,
  call: AgentCall,
  { signal, onStep }: SignOptions = {},
): Promise<ForeignAddress> {
  const said = await api.text(PATH, {
    query: addressQuery(call),
    headers: { 'x-call-id': call.callId },
    ...{ signal, onStep },
  });
  onStep?.('accepted');
  const address = addressIn(said, call.assistantId);
  // What it said is not shown: it may be an address that can be called.
  if (!address) throw api.notUnderstood('its answer has no signed_url that begins with wss://');
  // No request ends a conversation: it ends with its socket, so nothing is needed for that.
  await call.ledger?.placed(null);
  return address;
}

/** One voice call: the signed address is dialled without any of our headers. */
export function elevenlabsSession(endpoint: AgentEndpoint, call: AgentCall): WireSession<ElevenLabsState> {
  const api = PlatformApi.ofCall(ELEVENLABS_RULES, endpoint, call);
  const { platform, secrets } = api;
  const options: ElevenLabsOptions = endpoint.options;
  return {
    agent: platform,
    secrets,
    skippedSteps: {},
    refused: (failure) => refusedAddress(platform, failure),
    cure: (step, failure) => (step === 'words' ? NO_WORDS : cureOf(failure)),
    dial: async (dialling): Promise<Dialled<ElevenLabsState>> => {
      const address = await signedAddress(api, call, dialling);
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
function addressIn(body: string, assistantId: string): ForeignAddress | undefined {
  let signed: unknown;
  try {
    signed = (JSON.parse(body) as { signed_url?: unknown } | null)?.signed_url;
  } catch {
    return undefined;
  }
  const address = foreignAddress(signed, 'wss', 'the signed address');
  return address && { ...address, secrets: address.secrets.filter((value) => value !== assistantId) };
}
