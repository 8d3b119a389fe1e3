import path from 'node:path';
import { OutboundError } from '../../../outbound-http/index.js';
import { CallFailure } from '../../failure.js';
import { withoutSecrets } from '../../other-side.js';
import type { VoiceFacts } from '../../voice/facts.js';
import { MediaThread } from '../../voice/media-thread.js';
import type { VoiceCallOptions, VoiceTransport } from '../../voice/media.js';
import type { AgentCall, AgentEndpoint } from '../endpoint.js';
import type { MediaConnection } from '../media-worker.js';
import { OUTBOUND_CODES } from '../outbound-failures.js';
import { type DialledStream, TwilioSession } from './session.js';

const PROTOCOL = 'twilio-media-streams';
/** For the TCP connection, TLS and the upgrade. */
const CONNECT_TIMEOUT_MS = 15_000;
/** For what follows after the stream. */
const AFTER_STREAM_MS = 15_000;

/** One per process: a single ticker for all calls. Compiled in production, a source in tests: like this file. */
export const mediaThread = new MediaThread<MediaConnection>(
  new URL(`../media-worker${path.extname(import.meta.url)}`, import.meta.url),
);

/** An agent behind a webhook or WebSocket of Twilio Media Streams: the service plays Twilio. */
export function twilioMediaStreams(endpoint: AgentEndpoint, call: AgentCall): VoiceTransport {
  const session = new TwilioSession(endpoint, call);
  const identity = { protocol: PROTOCOL, url: session.shownUrl, callId: call.callId };
  return { name: PROTOCOL, identity, call: (options) => runCall(session, call, options) };
}

async function runCall(session: TwilioSession, call: AgentCall, options: VoiceCallOptions): Promise<VoiceFacts> {
  const { signal } = options;
  signal.throwIfAborted();
  const dialled = await session.dial(signal, options.speak);
  const facts = await mediaThread.call(await connectionOf(session, call, dialled), options);
  if (facts.end.code !== 'agent_hung_up') return facts;
  const limit = AbortSignal.any([signal, AbortSignal.timeout(AFTER_STREAM_MS)]);
  const after = await session.afterStream(facts.end.atMs, limit).catch((error: unknown) => {
    signal.throwIfAborted();
    if (!limit.aborted) throw error;
    return { events: [], findings: [] };
  });
  return {
    ...facts,
    platformEvents: [...facts.platformEvents, ...after.events],
    wireFindings: [...facts.wireFindings, ...after.findings],
  };
}

/** The addresses are looked up and checked here, and the thread connects to no other ones. */
export async function connectionOf(
  session: TwilioSession,
  { client }: AgentCall,
  { url, headers, stream, answeredAt, findings, events, sounds }: DialledStream,
): Promise<MediaConnection> {
  const addresses = await client.addressesOf(url).catch((cause: unknown) => {
    if (!(cause instanceof OutboundError)) throw cause;
    throw new CallFailure(OUTBOUND_CODES[cause.reason], session.agent.describe({}), { cause });
  });
  return {
    target: { url, headers, addresses },
    shownUrl: url === session.first.url ? session.shownUrl : withoutSecrets(url),
    timeoutMs: CONNECT_TIMEOUT_MS,
    twilio: stream,
    answeredAt: answeredAt === undefined ? undefined : performance.timeOrigin + answeredAt,
    findings,
    events,
    sounds,
  };
}
