import { randomUUID } from 'node:crypto';
import { OutboundClient, type OutboundOptions } from '../../../../../outbound-http/index.js';
import { CallFailure } from '../../../../timeline/failure.js';
import type { VoiceFacts } from '../../../../voice/facts/facts.js';
import type { VoiceCallOptions } from '../../../../voice/wire/voice-transport.js';
import { planOf, say, speech } from '../../../../voice/testing/virtual-calls.js';
import type { AgentEndpoint } from '../../../modules/endpoint.js';
import type { WireModule } from '../../../modules/module.js';
import type { CallThreads } from '../../../../voice/thread/media-thread.js';
import { mediaThreads, requestThreads } from '../../../protocols.js';
import { voiceTransport } from '../../../voice-call.js';
import { twilioMediaStreams } from '../index.js';
import { type AgentScript, ScriptedAgent, type Stream } from '../../../../../../test/simulators/twilio/twilio-agent.js';
import { toMulaw } from '../../../../testing/telephone-sounds.js';

export const AUTH_TOKEN = 'auth-token-12345678';
const END = { type: 'end', reason: 'done' } as const;
export const SCRIPT = [say(400), END];
const LOOPBACK = ['127.0.0.0/8', '::1/128'];

const agents: ScriptedAgent[] = [];
export async function agent(script: AgentScript = {}): Promise<ScriptedAgent> {
  const started = await ScriptedAgent.start(script);
  agents.push(started);
  return started;
}

interface CallMore extends Partial<VoiceCallOptions> {
  readonly endpoint?: Partial<AgentEndpoint>;
  readonly outbound?: OutboundOptions;
  readonly callId?: string;
  readonly workspaceId?: string;
  readonly module?: WireModule;
  readonly threads?: CallThreads;
}

export function call(
  url: string,
  { endpoint, outbound, callId, workspaceId, module, threads, ...options }: CallMore = {},
): Promise<VoiceFacts> {
  const client = new OutboundClient({ allowedNetworks: LOOPBACK, ...outbound });
  const transport = voiceTransport(
    module ?? twilioMediaStreams,
    {
      protocol: 'twilio-media-streams',
      url,
      headers: { 'x-tenant': 'bella-vista-9' },
      firstSpeaker: null,
      options: {},
      apiKey: AUTH_TOKEN,
      ...endpoint,
    },
    {
      client,
      assistantId: 'a-1',
      phoneNumber: '+12025550199',
      workspaceId: workspaceId ?? 'w-1',
      callId: callId ?? randomUUID(),
    },
    threads ?? mediaThreads,
    requestThreads,
  );
  return transport.call({
    plan: planOf(SCRIPT, { firstSpeaker: 'caller', turnEndMs: 200, patienceMs: 1_500 }),
    signal: new AbortController().signal,
    ...options,
  });
}

export const failed = (promise: Promise<unknown>): Promise<CallFailure> =>
  promise.then(
    () => Promise.reject(new Error('the call did not fail')),
    (error: unknown) => {
      if (error instanceof CallFailure) return error;
      throw error;
    },
  );

/** Answers with a tone once the caller has been silent for a while. */
export const answering = (onStart?: AgentScript['onStart']): AgentScript => {
  const heard = new Map<Stream, number>();
  return {
    ...(onStart && { onStart }),
    onMessage: (stream, { event, media }) => {
      if (event !== 'media') return;
      const isSilent = Buffer.from(media.payload as string, 'base64').every((byte) => (byte & 0x7f) > 0x60);
      const frames = heard.get(stream) ?? 0;
      if (!isSilent) heard.set(stream, 1);
      else if (frames > 0) heard.set(stream, frames + 1);
      if (frames !== 15) return;
      heard.set(stream, 0);
      stream.play(toMulaw(speech(600)));
      stream.send({ event: 'mark', mark: { name: 'answer' } });
    },
  };
};

/** Stops all agents and the media thread when a test is over. */
export function useAgents(): void {
  afterEach(async () => {
    for (const started of agents.splice(0)) await started.stop();
  });
  afterAll(() => Promise.all([mediaThreads.close(), requestThreads.close()]));
}

export async function until(condition: () => boolean): Promise<void> {
  for (let n = 0; n < 200 && !condition(); n++) await new Promise((resolve) => setTimeout(resolve, 25));
}
