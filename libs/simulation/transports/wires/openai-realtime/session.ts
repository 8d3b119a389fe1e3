import { OtherSide, secretsOfUrl, withoutSecrets } from '../../../other-side/other-side.js';
import { sentSecrets } from '../../../other-side/secrets.js';
import { CallFailure, type Failure } from '../../../timeline/failure.js';
import { agentUrl } from '../../http/agent-url.js';
import type { AgentCall, AgentEndpoint } from '../../modules/endpoint.js';
import type { Dialled, WireSession } from '../../modules/module.js';
import { flatSession, sessionOf } from './options.js';
import type { RealtimeState } from './wire.js';

/** OpenAI and the domains of Azure's resources, also with the dot of a complete name. */
const VENDOR_HOST = /(^|\.)(openai\.com|(openai|cognitiveservices|services\.ai)\.azure\.(com|us|cn))\.?$/i;
const KEY = 'Check the apiKey of the agent, or the header authorization or api-key of the connection.';
const WIDE = 'Set the option line to wide if the server takes no G.711.';
const REFUSED = 'Check the model in the query of the url, and the option session.';

/** One call: the WebSocket is dialled without a request before it. */
export function realtimeSession(endpoint: AgentEndpoint, call: AgentCall): WireSession<RealtimeState> {
  const { shownUrl = withoutSecrets(endpoint.url), apiKey, headers, options, firstSpeaker } = endpoint;
  const url = agentUrl(endpoint.url, call);
  const secrets = sentSecrets([apiKey], headers, secretsOfUrl(endpoint.url));
  const agent = new OtherSide(agentUrl(shownUrl, call), secrets.all);
  const session = sessionOf(options);
  // A key of the connection, such as Azure's, replaces that of the agent.
  const hasOwnKey = 'authorization' in headers || 'api-key' in headers;
  const bearer: Readonly<Record<string, string>> =
    hasOwnKey || apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
  return {
    agent,
    secrets,
    skippedSteps: {},
    isDirect: true,
    cure,
    dial: () => {
      const { protocol, hostname } = new URL(url);
      if (protocol !== 'wss:' && VENDOR_HOST.test(hostname)) {
        const what = 'a key is sent to the platform over TLS only: its address must begin with wss://';
        return Promise.reject(new CallFailure('connection_failed', agent.describe({ what, isPermanent: true })));
      }
      return Promise.resolve<Dialled<RealtimeState>>({
        socket: { url, headers: { ...bearer, ...headers, 'x-call-id': call.callId }, shownUrl: agent.address },
        state: { session, flat: flatSession(session), greets: firstSpeaker !== 'caller', secrets: secrets.all },
        sounds: [],
        found: { findings: [], events: [] },
      });
    },
  };
}

function cure(_step: string, { code, status = 0, said = '' }: Failure): string | undefined {
  if (status === 401 || status === 403) return KEY;
  if (code === 'platform_refused' && /pcmu|u-?law|g\.?711|_format|\.format/i.test(said)) return WIDE;
  return code === 'platform_refused' || status === 404 ? `${REFUSED} ${KEY}` : undefined;
}
