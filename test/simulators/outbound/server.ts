import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readBody } from '../http.js';

/** A call that the agent is asked to make. */
export interface AskedCall {
  readonly id: string;
  readonly to: string;
  readonly from: string;
  readonly variables: object;
}

export interface AskedRequest {
  readonly method: string;
  readonly url: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

type Json = Readonly<Record<string, unknown>>;
type Answer = readonly [status: number, body: object];

/** Numbers of the account, by the id that the platform has for them. */
const NUMBERS: Readonly<Record<string, { readonly number: string; readonly kind: 'trunk' | 'twilio' | 'vapi' }>> = {
  'number-1': { number: '+4930900001', kind: 'trunk' },
  'number-twilio': { number: '+4930900002', kind: 'twilio' },
  'number-vapi': { number: '+4930900003', kind: 'vapi' },
};

/**
 * The APIs by which an agent is asked to call: those of Vapi, Retell and ElevenLabs, with their answers and refusals, and a
 * webhook at `/call-me`. The call itself is made by the test (`onCall`).
 */
export class OutboundPlatforms {
  readonly requests: AskedRequest[] = [];
  readonly stopped: string[] = [];
  onCall: (call: AskedCall) => unknown = () => undefined;
  /** `lost`: the call is made, and the connection cut before the answer; `failed`: the same with 502. `refused`: nothing is called. */
  fault: 'none' | 'lost' | 'failed' | 'busy' | 'refused' = 'none';
  /** Why the records say that calls have ended. */
  ended: string | null = null;
  /** The record of a call that was made, in place of one that says only why it ended. */
  recordOf: ((id: string) => object) | undefined;
  private readonly http = createServer((request, response) => void this.serve(request, response));

  static async start(): Promise<OutboundPlatforms> {
    const server = new OutboundPlatforms();
    server.http.listen(0, '127.0.0.1');
    await once(server.http, 'listening');
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.http.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.http.closeAllConnections();
    await new Promise((resolve) => this.http.close(resolve));
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '', headers } = request;
    const path = url.split('?')[0]!;
    const text = await readBody(request);
    this.requests.push({ method, url, path, headers, text });
    if (this.fault === 'refused') return void response.writeHead(404).end('There is no such agent');
    const [status, body] = this.answer(`${method} ${path}`, (text === '' ? {} : JSON.parse(text)) as Json);
    if (status < 300 && method === 'POST' && this.fault === 'lost') return void response.destroy();
    if (status < 300 && method === 'POST' && this.fault === 'failed')
      return void response.writeHead(502).end('Bad Gateway');
    response.writeHead(status, { 'content-type': 'application/json' }).end(status === 204 ? '' : JSON.stringify(body));
  }

  private answer(route: string, body: Json): Answer {
    const [, id = ''] = /^(?:GET|POST) .*\/([^/]+)$/.exec(route) ?? [];
    if (route === 'POST /call') return this.vapi(body);
    if (route === 'POST /v2/create-phone-call') return this.retell(body);
    if (route === 'POST /v1/convai/sip-trunk/outbound-call') return this.elevenlabs(body, 'trunk');
    if (route === 'POST /v1/convai/twilio/outbound-call') return this.elevenlabs(body, 'twilio');
    if (/^POST \/call-me\/?$/.test(route)) {
      const { callId, ...call } = body as unknown as AskedCall & { readonly callId: string };
      return this.called({ ...call, id: callId }, () => [202, { id: `own-${callId}` }]);
    }
    if (route.startsWith('POST /v2/stop-call/') && this.stopped.push(id)) return [204, {}];
    if (this.recordOf && /^GET \/(call|v2\/get-call)\//.test(route)) return [200, this.recordOf(id)];
    if (route.startsWith('GET /call/')) return [200, { id, status: 'ended', endedReason: this.ended }];
    if (route.startsWith('GET /v2/get-call/')) return [200, { call_id: id, disconnection_reason: this.ended }];
    if (route.startsWith('GET /v1/convai/conversations/'))
      return [200, { conversation_id: id, metadata: { termination_reason: this.ended } }];
    return [404, { message: 'Not Found' }];
  }

  private called(call: AskedCall, answer: () => Answer): Answer {
    void this.onCall(call);
    return answer();
  }

  /** The record, as it was published: an `outboundPhoneCall` that is queued. */
  private vapi({ phoneNumberId, customer, assistantId, name, assistantOverrides }: Json): Answer {
    const refused = (message: unknown): Answer => [400, { message, error: 'Bad Request', statusCode: 400 }];
    const { number = '' } = (customer ?? {}) as { readonly number?: string };
    if (!/^\+\d{7,15}$/.test(number))
      return refused(['customer.number must be a valid phone number in the E.164 format']);
    const from = NUMBERS[String(phoneNumberId)];
    if (!from) return refused(`Couldn't Get Phone Number. phoneNumberId ${String(phoneNumberId)} Does Not Exist.`);
    const now = new Date().toISOString();
    const { variableValues = {} } = (assistantOverrides ?? {}) as { readonly variableValues?: object };
    const record = (id: string, more: object = {}) => ({
      ...{ id, orgId: 'org_1', type: 'outboundPhoneCall', assistantId, phoneNumberId, name, customer, cost: 0 },
      ...{ createdAt: now, updatedAt: now, status: 'queued', phoneCallProvider: 'twilio', assistantOverrides },
      subscriptionLimits: {
        concurrencyBlocked: this.fault === 'busy',
        concurrencyLimit: 10,
        remainingConcurrentCalls: 8,
      },
      monitor: { controlUrl: `${this.url}/control/${id}` },
      ...more,
    });
    // VapiAI/docs#1197 and VapiAI/server-sdk-typescript#37: such numbers only take calls.
    const reason = { status: 'ended', endedReason: 'call.start.error-get-transport' };
    if (from.kind === 'vapi') return [201, record(randomUUID(), reason)];
    const id = randomUUID();
    return this.called({ id, to: number, from: from.number, variables: variableValues }, () => [201, record(id)]);
  }

  private retell({
    from_number,
    to_number,
    override_agent_id,
    retell_llm_dynamic_variables = {},
    metadata,
  }: Json): Answer {
    const isOwn = Object.values(NUMBERS).some(({ number }) => number === from_number);
    const refused = (status: number, message: string): Answer => [status, { status: 'error', message }];
    if (this.fault === 'busy') return refused(429, 'Account rate limited, please throttle your requests.');
    if (!isOwn) return refused(422, `Item ${String(from_number)} not found from phone-number`);
    const isText = Object.values(retell_llm_dynamic_variables as object).every((one) => typeof one === 'string');
    if (!isText) return refused(400, 'retell_llm_dynamic_variables must have string values');
    const call_id = randomUUID().replaceAll('-', '');
    const direction = 'outbound';
    const answer = {
      ...{ call_type: 'phone_call', call_id, agent_id: override_agent_id, agent_version: 1, call_status: 'registered' },
      ...{ from_number, to_number, direction, metadata, retell_llm_dynamic_variables },
    };
    const call = { id: call_id, to: String(to_number), from: String(from_number) };
    return this.called({ ...call, variables: retell_llm_dynamic_variables as object }, () => [201, answer]);
  }

  private elevenlabs(body: Json, kind: 'trunk' | 'twilio'): Answer {
    const { agent_phone_number_id, to_number, conversation_initiation_client_data } = body;
    // PipedreamHQ/pipedream#21185.
    const missing = ['agent_id', 'agent_phone_number_id', 'to_number'].filter((name) => typeof body[name] !== 'string');
    const detail = missing.map((name) => ({
      type: 'missing',
      loc: ['body', name],
      msg: 'Field required',
      input: null,
    }));
    if (detail.length > 0) return [422, { detail }];
    const from = NUMBERS[String(agent_phone_number_id)];
    if (!from) return [404, { detail: { status: 'document_not_found', message: 'Phone number not found.' } }];
    if (from.kind !== kind) {
      // elevenlabs/elevenlabs-mcp#40.
      const message = `We are missing some Twilio credentials for the number ${from.number}.`;
      return [400, { detail: { status: 'invalid_provider_config', message } }];
    }
    if (this.fault === 'busy') {
      return [200, { success: false, message: 'SIP status: 486 Busy Here', conversation_id: null, sip_call_id: null }];
    }
    const id = `conv_${randomUUID().slice(0, 8)}`;
    const { dynamic_variables: variables = {} } = (conversation_initiation_client_data ?? {}) as {
      readonly dynamic_variables?: object;
    };
    const line = kind === 'trunk' ? { sip_call_id: randomUUID() } : { callSid: `CA${randomUUID().slice(0, 8)}` };
    const answer = { success: true, message: 'Success', conversation_id: id, ...line };
    return this.called({ id, to: String(to_number), from: from.number, variables }, () => [200, answer]);
  }
}
