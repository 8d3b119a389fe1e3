import type { AudioFormat } from '../../../../audio/index.js';
import { secretsOfUrl } from '../../../other-side/other-side.js';
import { CallFailure } from '../../../timeline/failure.js';
import type { JsonValue } from '../../../timeline/text.js';
import { foreignAddress } from '../../http/foreign-address.js';
import { PlatformApi } from '../../http/platform-api.js';
import type { AgentCall, AgentEndpoint } from '../../modules/endpoint.js';
import type { Dialled, WireSession } from '../../modules/module.js';
import { endCall, handleOf, type VapiHandle } from './calls.js';
import { vapiFinding } from './findings.js';
import { callFields, formatOf } from './options.js';
import { blocked, cureOf, expired, VAPI_RULES } from './refusals.js';
import type { VapiState } from './wire.js';

const END_MS = 10_000;
const NO_WORDS =
  'Add assistant.speechStarted to clientMessages of the assistant, or let a transcription server hear it (STT_BASE_URL).';

/** The transport of a call whose audio comes over a WebSocket. */
const transportOf = ({ encoding, rate }: ReturnType<typeof formatOf>) => ({
  provider: 'vapi.websocket',
  audioFormat: { format: encoding === 'mulaw' ? 'mulaw' : 'pcm_s16le', container: 'raw', sampleRate: rate },
});

/** One voice call: it is created with the key, and its WebSocket is dialled without any of our headers. */
export function vapiSession(endpoint: AgentEndpoint, call: AgentCall): WireSession<VapiState> {
  const api = PlatformApi.ofCall(VAPI_RULES, endpoint, call);
  const format = formatOf(endpoint.options);
  return {
    agent: api.platform,
    secrets: api.secrets,
    skippedSteps: {},
    refused: (failure) => expired(api.platform, failure),
    cure: (step, failure) => (step === 'words' ? NO_WORDS : cureOf(failure)),
    dial: async ({ signal, onStep }): Promise<Dialled<VapiState>> => {
      const { assistantVersion, ledger } = call;
      const body = {
        ...callFields(call, endpoint.options),
        ...(assistantVersion !== undefined && { assistantVersion }),
        transport: transportOf(format),
      };
      const headers = { 'x-call-id': call.callId };
      const created = await api.json('/call', { method: 'POST', headers, body, signal, onStep });
      const handle = handleOf(created);
      if (!handle) throw api.notUnderstood('its answer is not the record of a call');
      /** With a record of paid calls, the owner of its capacity ends the call before it is dialled again. */
      const end = async () => {
        const request = { endpoint, client: call.client, signal: AbortSignal.timeout(END_MS) };
        if (!ledger) await endCall(handle as unknown as JsonValue, request);
      };
      await ledger?.placed(handle as unknown as JsonValue, handle.id);
      try {
        const dialled = dialledOf(api, created, handle, format);
        onStep('accepted');
        // The connection may be given up before it can carry a last message.
        if (!ledger) signal.addEventListener('abort', () => void end().catch(() => undefined), { once: true });
        return dialled;
      } catch (error) {
        await end();
        throw error;
      }
    },
  };
}

/** @throws CallFailure for a call that cannot be carried out */
function dialledOf(api: PlatformApi, created: unknown, handle: VapiHandle, format: AudioFormat): Dialled<VapiState> {
  const { transport, subscriptionLimits } = created as {
    readonly transport?: { readonly websocketCallUrl?: unknown };
    readonly subscriptionLimits?: { readonly concurrencyBlocked?: unknown };
  };
  if (subscriptionLimits?.concurrencyBlocked === true) throw new CallFailure(blocked(api.platform));
  const address = foreignAddress(transport?.websocketCallUrl, 'wss', 'the transport of the call');
  if (!address) throw api.notUnderstood('its answer has no websocketCallUrl that begins with wss://');
  const addresses = [...address.secrets, ...secretsOfUrl(handle.controlUrl ?? '')];
  const missing = { ...vapiFinding('no_control', 'POST /call answered without monitor.controlUrl'), atMs: 0 };
  return {
    socket: { url: address.url, headers: {}, shownUrl: address.shown },
    state: { format, addresses, secrets: [...api.secrets.all, ...addresses] },
    sounds: [],
    found: { findings: handle.controlUrl === null ? [missing] : [], events: [] },
  };
}
