import { WebSocket } from 'ws';
import { OutboundClient } from '../../../../outbound-http/index.js';
import type { KeptCall, KeptCalls } from '../../../../../test/simulators/records/kept-calls.js';
import { RetellServer } from '../../../../../test/simulators/retell/server.js';
import { ElevenLabsServer } from '../../../testing/elevenlabs.js';
import { VapiServer, type VapiScript } from '../../../testing/vapi.js';
import type { CallFailure } from '../../../timeline/failure.js';
import type { RecordsRequest } from '../../modules/records.js';
import { platformOf, PROTOCOLS } from '../../protocols.js';

export const KEY = 'key_of_the_test_1234567890';
export const AGENT = 'agent 01/é';
export const NOON = Date.UTC(2026, 10, 20, 12);
export const ATTEMPT = 'b3b0c2a4-6e9f-4d53-9a53-7f6f3a0c9d11';
export const HOUR = 60 * 60_000;

export const booked = (index: number, more: Partial<KeptCall> = {}): KeptCall => ({
  id: `call_${index}`,
  agent: AGENT,
  startedAt: NOON + index * 60_000,
  endedAt: NOON + index * 60_000 + 41_000,
  lines: [
    { speaker: 'agent', text: 'Good evening, Bella Vista.', startMs: 1_000, endMs: 3_000 },
    { speaker: 'caller', text: 'A table for four, please.', startMs: 4_000, endMs: 6_000 },
    { speaker: 'agent', text: 'Table seven is yours.', startMs: 9_000, endMs: 11_000 },
  ],
  tools: [{ id: 't1', name: 'find_table', arguments: { people: 4 }, result: '{"table":7}', startMs: 7_000 }],
  latencies: [900, 2_000],
  callerNumber: '+15550123',
  ...more,
});

interface Platform {
  readonly server: { readonly url: string; readonly kept: KeptCalls; stop(): Promise<void> };
  readonly protocol: string;
}

const PLATFORMS = {
  vapi: async (): Promise<Platform> => ({ server: await VapiServer.start({ apiKey: KEY }), protocol: 'vapi' }),
  retell: async (): Promise<Platform> => ({
    server: await RetellServer.start({ apiKey: KEY }),
    protocol: 'retell-text',
  }),
  elevenlabs: async (): Promise<Platform> => ({
    server: await ElevenLabsServer.start({ apiKey: KEY }),
    protocol: 'elevenlabs',
  }),
};
export type Name = keyof typeof PLATFORMS;
export const ALL = Object.keys(PLATFORMS) as Name[];

let platform: Platform | undefined;
let turns = 0;

/** Where the double is, and how many requests were announced. */
export const opened = { url: () => platform!.server.url, turns: () => turns };

/** After each test. */
export async function close(): Promise<void> {
  await platform?.server.stop();
  platform = undefined;
}

/** Makes a call over the double of Vapi, and waits until it has ended. @returns its id */
export async function carried(script: VapiScript, attempt: string): Promise<string> {
  const server = await VapiServer.start({ apiKey: KEY, script });
  platform = { server, protocol: 'vapi' };
  const body = JSON.stringify({
    assistantId: AGENT,
    name: `vat:${attempt}`,
    transport: { provider: 'vapi.websocket' },
  });
  const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json', 'x-call-id': attempt };
  const created = await fetch(`${server.url}/call`, { method: 'POST', body, headers });
  const { id, transport } = (await created.json()) as { id: string; transport: { websocketCallUrl: string } };
  const socket = new WebSocket(transport.websocketCallUrl);
  await new Promise((resolve) => socket.on('close', resolve));
  return id;
}

/** Starts the double of a platform that keeps these calls, and reads its records. */
export async function open(name: Name, ...calls: readonly KeptCall[]) {
  platform ??= await PLATFORMS[name]();
  const { server, protocol } = platform;
  server.kept.keep(...calls);
  turns = 0;
  const records = PROTOCOLS.of(protocol).records!;
  const request = (apiKey = KEY): RecordsRequest => ({
    client: new OutboundClient({ allowedNetworks: ['127.0.0.0/8'] }),
    endpoint: {
      ...{ protocol, url: server.url, headers: {}, firstSpeaker: null, options: {}, apiKey },
    },
    signal: new AbortController().signal,
    turn: () => Promise.resolve(void turns++),
  });
  const list = (from = NOON - HOUR, until = NOON + 100 * HOUR, apiKey = KEY) =>
    records.list({ assistantId: AGENT, from, until }, request(apiKey));
  const read = async (parts: Uint8Array[] = []) => {
    const outcome = await records.recording!('call_0', request(), (part) => void parts.push(part));
    return { outcome, bytes: Buffer.concat(parts) };
  };
  return {
    ...{ kept: server.kept, records },
    threaded: platformOf(protocol, 'w-1').records!,
    request,
    list,
    get: (id: string) => records.get(id, request()),
    read,
  };
}

export const failureOf = (work: Promise<unknown>) =>
  work.then(
    (value) => ({ code: 'none', message: JSON.stringify(value), status: 0, retryAfterMs: 0 }),
    (error: CallFailure) => error.failure,
  );
