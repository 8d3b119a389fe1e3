import { isObject } from '../../../../json-input/index.js';
import { agentUrl } from '../../http/agent-url.js';
import { foreignAddress } from '../../http/foreign-address.js';
import { PlatformApi } from '../../http/platform-api.js';
import { Refusals } from '../../http/platform-rules.js';
import type { AgentCall, AgentEndpoint } from '../../modules/endpoint.js';
import type { Dialled, WireSession } from '../../modules/module.js';
import type { PipecatOptions } from './options.js';
import type { PipecatState } from './wire.js';

const READY_MS = 30_000;
const KEY = 'check the apiKey of the agent and the headers of the connection: the token of a bot serves once';
const REFUSALS = new Refusals([], {
  400: 'check the body of the option start',
  401: KEY,
  403: KEY,
  404: 'check the url',
  422: 'check the body of the option start',
});
const RULES = {
  vendorHost: /(^|\.)daily\.co\.?$/i,
  authorization: (apiKey: string) => ({ authorization: `Bearer ${apiKey}` }),
  refused: REFUSALS.refused,
};
const NO_TLS = 'a key is sent to the platform over TLS only: its address';
const NO_START = 'The url is a WebSocket: no bot is started by a request';
const NO_WORDS =
  'Enable RTVI in the bot (PipelineTask does so by default), or set the option rtvi to off and let a transcription server hear it (STT_BASE_URL).';

/** One call: the WebSocket of the bot, or a request that starts a bot and is answered with its address. */
export function pipecatSession(endpoint: AgentEndpoint, call: AgentCall): WireSession<PipecatState> {
  const api = PlatformApi.ofCall(RULES, endpoint, call);
  const options: PipecatOptions = endpoint.options;
  const isDirect = /^wss?:/i.test(endpoint.url);
  const id = { 'x-call-id': call.callId };
  const dialled = (socket: Dialled['socket'], addresses: readonly string[] = []): Dialled<PipecatState> => ({
    socket,
    state: {
      ...{ rate: options.rate ?? 16_000, speaksRtvi: options.rtvi !== 'off', addresses },
      ...{ showsTools: options.functionCalls === 'shown', mockedTools: call.mockedTools ?? [] },
      secrets: [...api.secrets.all, ...addresses],
    },
    sounds: [],
    found: { findings: [], events: [] },
  });
  return {
    agent: api.platform,
    secrets: api.secrets,
    skippedSteps: isDirect ? { accepted: NO_START } : {},
    isDirect,
    cure: (step, failure) => (step === 'words' ? NO_WORDS : REFUSALS.cureOf(failure)),
    dial: async ({ signal, onStep }) => {
      const { apiKey, headers } = endpoint;
      if (isDirect) {
        const url = agentUrl(endpoint.url, call);
        const { protocol, hostname } = new URL(url);
        if (protocol !== 'wss:' && RULES.vendorHost.test(hostname)) {
          throw api.failure('connection_failed', { what: `${NO_TLS} must begin with wss://`, isPermanent: true });
        }
        const bearer = apiKey === undefined ? {} : RULES.authorization(apiKey);
        return dialled({ url, headers: { ...bearer, ...headers, ...id }, shownUrl: api.platform.address });
      }
      const { readyWithinMs: timeoutMs = READY_MS, start = {} } = options;
      const { socket: path = 'wsUrl', token: tokenPath = 'token', body } = start;
      const own = isObject(body?.['body']) ? body['body'] : {};
      const request = { transport: 'websocket', ...body, body: { ...own, ...(call.variables ?? options.variables) } };
      const answer = await api.json('', { method: 'POST', headers: id, body: request, timeoutMs, signal, onStep });
      const [url, token] = [valueAt(answer, path), valueAt(answer, tokenPath)];
      const address = foreignAddress(withToken(url, token), 'wss', 'which the answer of its start names');
      if (!address) throw api.notUnderstood(`its answer has no ${path} that begins with wss://`);
      onStep('accepted');
      return dialled({ url: address.url, headers: {}, shownUrl: address.shown }, address.secrets);
    },
  };
}

const valueAt = (answer: unknown, path: string): unknown =>
  path.split('.').reduce((value, name) => (isObject(value) ? value[name] : undefined), answer);

/** As the vendor's client adds it. */
function withToken(url: unknown, token: unknown): unknown {
  if (typeof url !== 'string' || typeof token !== 'string' || token === '') return url;
  return `${url}${url.includes('?') ? '&' : '?'}token=${encodeURIComponent(token.toWellFormed())}`;
}
