import path from 'node:path';
import { OtherSide, secretsOfUrl, withoutSecrets } from '../../../../other-side/other-side.js';
import { sentSecrets } from '../../../../other-side/secrets.js';
import { agentUrl } from '../../../http/agent-url.js';
import type { AgentCall, AgentEndpoint } from '../../../modules/endpoint.js';
import type { WireModule, WireSession } from '../../../modules/module.js';
import { FIXTURE_FINDINGS } from './messages.js';
import type { FixtureState } from './wire.js';

const violation = (pin: unknown) => (typeof pin === 'string' && pin !== '' ? undefined : 'must be a string');

/** A made-up platform: the smallest complete wire, for tests and as the example of docs/adding-a-wire.md. */
export const fixtureWire: WireModule<FixtureState> = {
  name: 'fixture-wire',
  source: import.meta.url,
  title: 'Fixture wire',
  medium: 'voice',
  clock: 'heard',
  schemes: ['wss:', 'ws:'],
  firstSpeaker: null,
  provides: { words: true, toolCalls: 'answered', keys: false },
  options: { pin: { isSecret: true, description: 'identifies the caller', violation } },
  reservedHeaders: ['authorization'],
  findings: FIXTURE_FINDINGS,
  steps: {
    resolved: 'The host name leads to an address that may be called',
    connected: 'The connection was established',
    secured: 'The connection is encrypted, and the certificate is valid',
    websocket: 'The platform accepted the WebSocket',
    ready: 'The platform is ready for audio',
    answered: 'The agent was heard',
  },
  lineRate: () => 16_000,
  entry: new URL(`./wire${path.extname(import.meta.url)}`, import.meta.url),
  session,
};

/** A platform that is dialled over HTTP sends its requests in `dial`. */
function session(endpoint: AgentEndpoint, call: AgentCall): WireSession<FixtureState> {
  const { url, shownUrl = withoutSecrets(url), apiKey, headers, options } = endpoint;
  const { pin } = options as { readonly pin?: string };
  // Like a header with this name, the pin is removed from what the agent says.
  const secrets = sentSecrets([apiKey], { ...headers, ...(pin && { pin_secret: pin }) }, secretsOfUrl(url));
  const agent = new OtherSide(agentUrl(shownUrl, call), secrets.all);
  const sent = { ...headers, ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }) };
  const socket = { url: agentUrl(url, call), headers: sent, shownUrl: agent.address };
  const state = { callId: call.callId, ...(pin && { pin }), secrets: secrets.all };
  const found = { findings: [], events: [] };
  return { agent, secrets, skippedSteps: {}, dial: () => Promise.resolve({ socket, state, sounds: [], found }) };
}
