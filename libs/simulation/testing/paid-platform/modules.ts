import type { AgentCall, AgentEndpoint, PlatformRequest } from '../../transports/modules/endpoint.js';
import type { TextModule, WireModule } from '../../transports/modules/module.js';
import type { JsonValue } from '../../timeline/text.js';
import { CallFailure, failureOf } from '../../timeline/failure.js';
import type { Line, LineOptions, Transport } from '../../conversation/transport.js';
import { chatCompletions } from '../../transports/text/chat-completions/index.js';
import { fixtureWire } from '../../transports/wires/testing/fixture-wire/index.js';
import type { FixtureState } from '../../transports/wires/testing/fixture-wire/wire.js';
import { retryAfterMs } from '../../../text/index.js';

const isText = (value: unknown) => (typeof value === 'string' ? undefined : 'must be a string');
const option = (isSecret: boolean) => ({ isSecret, description: 'for tests', violation: isText });

const PLATFORM = {
  schemes: ['http:', 'https:'],
  defaultUrl: 'https://paid.example.com',
  reservedHeaders: [],
  bills: true,
  takes: { variables: true, assistantVersion: true },
  end: async (handle: JsonValue, { endpoint, client, signal }: PlatformRequest): Promise<void> => {
    const path = `/calls/${(handle as { id: string }).id}`;
    const { status } = await request(endpoint, client, { method: 'DELETE', path, signal });
    if (status !== 200) throw new Error(`HTTP ${status}`);
  },
  find: async (attemptId: string, { endpoint, client, signal }: PlatformRequest): Promise<JsonValue | null> => {
    const { status, body } = await request(endpoint, client, { method: 'GET', path: `/attempts/${attemptId}`, signal });
    return status === 200 ? (JSON.parse(body.toString()) as JsonValue) : null;
  },
} as const;

/** Calls of a made-up platform over text: one request opens a call, and it stays open until another one ends it. */
export const paidText: TextModule = {
  ...PLATFORM,
  name: 'paid-text',
  source: import.meta.url,
  title: 'Paid platform, text',
  medium: 'text',
  twin: 'paid-voice',
  firstSpeaker: 'caller',
  provides: { words: true, toolCalls: 'answered', keys: false },
  options: { pin: option(true), tone: option(false) },
  steps: { accepted: 'The platform opened the call', answered: 'The agent said its first words' },
  transport: (endpoint, call) => new PaidTransport(endpoint, call),
};

/** The same agents over voice. */
export const paidVoice: WireModule<FixtureState> = {
  ...fixtureWire,
  ...PLATFORM,
  name: 'paid-voice',
  source: import.meta.url,
  title: 'Paid platform, voice',
  twin: 'paid-text',
  options: { pin: option(true), accent: option(false) },
  session: (endpoint, call) => {
    const url = `${endpoint.url.replace(/^http/, 'ws')}/attempts/{callId}/media`;
    const session = fixtureWire.session({ ...endpoint, url }, call);
    return {
      ...session,
      dial: async (options) => {
        await opened(endpoint, call);
        return session.dial(options);
      },
    };
  },
};

class PaidTransport implements Transport {
  readonly name = 'paid-text';
  private readonly chat: Transport;

  constructor(
    private readonly endpoint: AgentEndpoint,
    private readonly attempt: AgentCall,
  ) {
    const { url, apiKey, headers } = this.endpoint;
    const key = apiKey === undefined ? {} : { apiKey };
    this.chat = chatCompletions({ ...this.attempt, ...key, headers, url: `${url}/attempts/{callId}/chat` });
  }

  get secrets() {
    return this.chat.secrets!;
  }

  connect(options: LineOptions): Line {
    const line = this.chat.connect(options);
    let open: Promise<void> | undefined;
    const { clock } = options;
    return {
      ...(line.identity && { identity: { ...line.identity, protocol: this.name } }),
      agentSpeaksFirst: false,
      say: async (text) => {
        try {
          await (open ??= opened(this.endpoint, this.attempt));
          return await line.say(text);
        } catch (error) {
          const at = clock.now();
          options.emit({ type: 'failure', at, failure: failureOf(error) });
          return { start: at, end: at };
        }
      },
      hangUp: () => line.hangUp(),
    };
  }
}

/** Opens the call. @throws CallFailure */
async function opened(
  endpoint: AgentEndpoint,
  { client, callId, ledger, variables, assistantVersion }: AgentCall,
): Promise<void> {
  const body = JSON.stringify({ attempt: callId, variables, version: assistantVersion });
  const response = await request(endpoint, client, { method: 'POST', path: '/calls', body });
  if (response.status !== 201) {
    const retryAfter = retryAfterMs(response.headers['retry-after']);
    throw new CallFailure('rate_limited', { what: `HTTP ${response.status}`, retryAfterMs: retryAfter });
  }
  const { id } = JSON.parse(response.body.toString()) as { id: string };
  await ledger?.placed({ id }, id);
}

interface Sent {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly body?: string;
  readonly signal?: AbortSignal;
}

function request({ url, apiKey }: AgentEndpoint, client: AgentCall['client'], { path, ...sent }: Sent) {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${apiKey}` };
  return client.request({ url: `${url}${path}`, headers, timeoutMs: 10_000, maxBodyBytes: 10_000, ...sent });
}
