import type { JsonObject } from '../../../../../json-input/index.js';
import { sign } from '../../../../../outbound-http/index.js';
import { CallFailure, type Failure, failureOf } from '../../../../timeline/failure.js';
import type { JsonValue } from '../../../../timeline/text.js';
import { PlatformApi } from '../../../http/platform-api.js';
import { type PlatformRules, Refusals } from '../../../http/platform-rules.js';
import type { AgentCall, AgentEndpoint, PlatformRequest, ProtocolName } from '../../../modules/endpoint.js';
import type { ProtocolOption } from '../../../modules/module.js';
import type { Records } from '../../../modules/records.js';
import { ELEVENLABS_RULES } from '../../elevenlabs/refusals.js';
import { objectOf, textOf } from '../../fields.js';
import { retellRecords } from '../../retell-api/records.js';
import { RETELL_RULES } from '../../retell-api/rules.js';
import { endCall, handleOf } from '../../vapi/calls.js';
import { callFields } from '../../vapi/options.js';
import { vapiRecords } from '../../vapi/records.js';
import { VAPI_RULES } from '../../vapi/refusals.js';

/** What is sent to a platform. */
interface Wanted {
  readonly call: AgentCall;
  /** E.164: ours, which the agent calls. */
  readonly to: string;
  /** The platform's id of the number from which it calls. */
  readonly phoneNumberId: string;
}

/** How a platform is asked to call, and what it then says. */
interface Platform {
  /** One of its own. */
  readonly protocol: ProtocolName;
  readonly rules: PlatformRules;
  readonly url: string;
  /** Which field of the agent names the number from which it calls. */
  readonly callsBy: 'phoneNumber' | 'phoneNumberId';
  readonly path: string;
  readonly body: (wanted: Wanted) => object;
  readonly id: string;
  /** Its record of a call, and why that says that the call ended. */
  readonly record: (id: string) => string;
  readonly ended: (record: JsonObject) => unknown;
  /** Those of its calls, if tool calls are known by them. */
  readonly records?: Records;
  /** Ends a call before it has come; without it that is not possible. */
  readonly stop?: (api: PlatformApi, id: string, signal: AbortSignal) => Promise<unknown>;
}

const elevenlabs = (path: string): Platform => ({
  protocol: 'elevenlabs',
  rules: ELEVENLABS_RULES,
  url: 'https://api.elevenlabs.io',
  callsBy: 'phoneNumberId',
  path,
  body: ({ call: { assistantId, variables = {} }, to, phoneNumberId }) => ({
    agent_id: assistantId,
    agent_phone_number_id: phoneNumberId,
    to_number: to,
    conversation_initiation_client_data: { dynamic_variables: variables },
  }),
  id: 'conversation_id',
  record: (id) => `/v1/convai/conversations/${id}`,
  ended: ({ metadata }) => objectOf(metadata)['termination_reason'],
});

/** Platforms that are asked by their API to let an agent call, by the names that the option has for them. */
export const PLATFORMS: Readonly<Record<string, Platform>> = {
  vapi: {
    protocol: 'vapi',
    rules: VAPI_RULES,
    url: 'https://api.vapi.ai',
    callsBy: 'phoneNumberId',
    path: '/call',
    body: ({ call, to, phoneNumberId }) => ({ ...callFields(call, {}), phoneNumberId, customer: { number: to } }),
    id: 'id',
    record: (id) => `/call/${id}`,
    ended: ({ endedReason }) => endedReason,
    records: vapiRecords,
  },
  retell: {
    protocol: 'retell-text',
    rules: RETELL_RULES,
    url: 'https://api.retellai.com',
    callsBy: 'phoneNumber',
    path: '/v2/create-phone-call',
    body: ({ call: { assistantId, phoneNumber, callId, variables = {} }, to }) => ({
      from_number: phoneNumber,
      to_number: to,
      override_agent_id: assistantId,
      metadata: { 'vat-call': callId },
      // It takes texts only.
      retell_llm_dynamic_variables: Object.fromEntries(
        Object.entries(variables).map(([name, one]) => [name, `${one}`]),
      ),
    }),
    id: 'call_id',
    record: (id) => `/v2/get-call/${id}`,
    ended: ({ disconnection_reason }) => disconnection_reason,
    records: retellRecords,
    stop: (api, id, signal) => api.text(`/v2/stop-call/${id}`, { method: 'POST', signal }),
  },
  elevenlabs: elevenlabs('/v1/convai/sip-trunk/outbound-call'),
  'elevenlabs-twilio': elevenlabs('/v1/convai/twilio/outbound-call'),
};

const NAMES = Object.keys(PLATFORMS);
const WEBHOOK_RULES: PlatformRules = {
  vendorHost: /^$/,
  authorization: () => ({}),
  refused: new Refusals([], {}).refused,
};

const isUrl = (text: string): boolean => /^https?:\/\/[^/?#@\\\s]+(?:[/?][^#\s]*)?$/i.test(text) && URL.canParse(text);

/** The parts of the options `trigger` and `records`: a platform and the address of its API, or a webhook. */
export function parsed(trigger: unknown): { readonly platform?: Platform; readonly url: string } | undefined {
  if (typeof trigger !== 'string') return undefined;
  if (isUrl(trigger)) return { url: trigger };
  const [, name = '', own] = /^([a-z-]+)(?::(.+))?$/s.exec(trigger) ?? [];
  const platform = Object.hasOwn(PLATFORMS, name) ? PLATFORMS[name] : undefined;
  if (!platform || (own !== undefined && !isUrl(own))) return undefined;
  return { platform, url: own ?? platform.url };
}

/** The options of a connection by which an agent is asked to call. */
export const TRIGGER_OPTIONS: Readonly<Record<'trigger' | 'triggerSecret', ProtocolOption>> = {
  trigger: {
    isSecret: false,
    receivesSecrets: (value) => parsed(value)?.platform?.protocol,
    description: `of an agent of type OUTBOUND: who is asked to let it call. ${NAMES.map((name) => `\`${name}\``).join(', ')}: the platform, with the apiKey of the agent; another address of its API follows after a colon (\`vapi:https://api.eu.vapi.ai\`). An address (\`https://…\`) gets a POST with \`callId\`, \`to\`, \`from\` and \`variables\``,
    violation: (value) =>
      parsed(value) ? undefined : `must be ${NAMES.join(', ')}, or an address that begins with https:// or http://`,
  },
  triggerSecret: {
    isSecret: true,
    description: 'signs the POST of `trigger` (Standard Webhooks): `whsec_…`, or any text',
    violation: (value) => (textOf(value) === null ? 'must be a text' : undefined),
  },
};

/** The field of the agent that `trigger` needs; undefined without the option. */
export function fieldOf({ trigger }: AgentEndpoint['options']): 'phoneNumber' | 'phoneNumberId' | undefined {
  const known = parsed(trigger);
  return known && (known.platform?.callsBy ?? 'phoneNumber');
}

/** What is known after the trigger: `id` names the call at its platform, `lost` says why its answer is not known. */
export interface Triggered {
  readonly id: string | null;
  readonly lost?: Failure;
  /** What ends the call, beside BYE. */
  readonly handle: JsonValue;
  /** All calls at once of the account are in use; it may call later nevertheless. */
  readonly isBusy?: boolean;
}

/** Asks the agent of a connection to call. */
export class Trigger {
  readonly api: PlatformApi;
  private readonly platform: Platform | undefined;
  private readonly path: string;

  /** @throws CallFailure without the option, which may have changed since the run was planned */
  constructor(
    private readonly endpoint: AgentEndpoint,
    client: AgentCall['client'],
  ) {
    const found = parsed(endpoint.options['trigger']);
    if (!found) throw new CallFailure('connection_changed', 'its connection has no option trigger');
    const { apiKey, headers } = endpoint;
    const { platform, url } = found;
    const { origin, pathname, search } = new URL(url);
    this.platform = platform;
    this.path = platform?.path ?? pathname;
    this.api = platform
      ? new PlatformApi(platform.rules, { client, url, headers, apiKey })
      : new PlatformApi(WEBHOOK_RULES, { client, url: `${origin}/${search}`, headers });
  }

  /**
   * Asks once. A lost answer does not mean a refusal: the call may come.
   * @throws CallFailure if the call was refused, or nothing was sent; the signal's reason
   */
  async send(call: AgentCall, to: string, signal: AbortSignal): Promise<Triggered> {
    let isSent = false;
    const onSent = () => (isSent = true);
    const request = { method: 'POST', signal, onSent, ...this.requestOf(call, to) } as const;
    try {
      return this.read(await this.api.text(this.path, request));
    } catch (error) {
      signal.throwIfAborted();
      const failure = failureOf(error);
      const isRefused = failure.status !== undefined && failure.status < 500;
      if (!isSent || isRefused || failure.code === 'platform_refused') throw error;
      return { id: null, lost: failure, handle: null };
    }
  }

  /** Why the platform says that its call ended; undefined if it says nothing. Never rejects. */
  async endedBecause({ id }: Triggered, signal: AbortSignal): Promise<string | undefined> {
    const { platform } = this;
    if (!platform || id === null) return undefined;
    const record = await this.api.json(platform.record(encodeURIComponent(id)), { signal }).catch(() => undefined);
    return textOf(platform.ended(objectOf(record))) ?? undefined;
  }

  private requestOf(call: AgentCall, to: string): { body: string; headers: Readonly<Record<string, string>> } {
    const { callId, phoneNumber, variables = {} } = call;
    const phoneNumberId = this.endpoint.phoneNumberId ?? '';
    if (this.platform) {
      return {
        body: JSON.stringify(this.platform.body({ call, to, phoneNumberId })),
        headers: { 'x-call-id': callId },
      };
    }
    const body = JSON.stringify({ callId, to, from: phoneNumber, variables });
    const at = new Date();
    const headers = { 'webhook-id': callId, 'webhook-timestamp': `${Math.floor(at.getTime() / 1_000)}` };
    const secret = textOf(this.endpoint.options['triggerSecret']);
    if (secret === null) return { body, headers };
    return { body, headers: { ...headers, 'webhook-signature': sign([secret], callId, at, body) } };
  }

  private read(said: string): Triggered {
    const answer = objectOf(jsonOf(said));
    const ended = this.platform && textOf(this.platform.ended(answer));
    // ElevenLabs says with 200 that it did not call; Vapi's record may have ended already.
    if (answer['success'] === false || (ended !== null && ended !== undefined)) {
      throw this.api.failure('platform_refused', { what: 'it did not call', said: ended ?? said });
    }
    const id = textOf(answer[this.platform?.id ?? 'id'])?.slice(0, 256) ?? null;
    if (this.platform !== PLATFORMS['vapi']) return { id, handle: id };
    const isBusy = objectOf(answer['subscriptionLimits'])['concurrencyBlocked'] === true;
    return { id, handle: handleOf(answer) as unknown as JsonValue, isBusy };
  }
}

/** Ends a call that was asked for, as far as its platform can. @throws CallFailure if it may still come */
export async function endTriggered(handle: JsonValue, request: PlatformRequest): Promise<void> {
  const { endpoint, client, signal } = request;
  const { platform, url } = parsed(endpoint.options['trigger']) ?? {};
  if (handle === null || !platform || url === undefined) return;
  if (typeof handle !== 'string') return endCall(handle, { ...request, endpoint: { ...endpoint, url } });
  const api = new Trigger(endpoint, client).api;
  await platform.stop?.(api, encodeURIComponent(handle), signal).catch((error: unknown) => {
    // It has ended already.
    if (!(error instanceof CallFailure) || ![400, 404, 422].includes(error.failure.status ?? 0)) throw error;
  });
}

function jsonOf(said: string): unknown {
  try {
    return JSON.parse(said);
  } catch {
    return undefined;
  }
}
