import { type FaultName, type ReferenceAgentServer, startReferenceAgent } from '../../simulators/agent/index.js';
import { TODAY, VoiceCalls } from '../../simulators/agent/testing/voice.js';
import { PROBE_SENTENCE } from '../../../libs/speech/index.js';
import { ListeningProcess } from '../../support/listening-process.js';

/** A protocol over which the same agent is reached, and its address at the server of its platform. */
export interface Wire {
  readonly name: string;
  readonly protocol: string;
  readonly medium: 'text' | 'voice';
  /** Option of the reference agent that makes it a server of the platform. */
  readonly platform: 'telephone' | 'realtime' | 'elevenlabs' | 'vapi' | 'retell';
  readonly path: string;
}

const TEXT: readonly Omit<Wire, 'medium'>[] = [
  {
    ...{ name: 'Chat completions', protocol: 'chat-completions', platform: 'telephone' },
    path: '/agents/{assistantId}/v1/chat/completions',
  },
  { name: 'ElevenLabs text', protocol: 'elevenlabs-text', platform: 'elevenlabs', path: '' },
  { name: 'Vapi chat', protocol: 'vapi-chat', platform: 'vapi', path: '' },
  { name: 'Retell text', protocol: 'retell-text', platform: 'retell', path: '' },
];
const VOICE: readonly Omit<Wire, 'medium'>[] = [
  { name: 'Twilio', protocol: 'twilio-media-streams', platform: 'telephone', path: '/agents/{assistantId}/voice' },
  { name: 'Realtime', protocol: 'openai-realtime', platform: 'realtime', path: '/v1/realtime?model={assistantId}' },
  { name: 'ElevenLabs', protocol: 'elevenlabs', platform: 'elevenlabs', path: '' },
  { name: 'Vapi', protocol: 'vapi', platform: 'vapi', path: '' },
];
export const MEDIA = ['text', 'voice'] as const;
export const WIRES: readonly Wire[] = [
  ...TEXT.map((wire): Wire => ({ ...wire, medium: 'text' })),
  ...VOICE.map((wire): Wire => ({ ...wire, medium: 'voice' })),
];

export interface Platforms {
  /** Of the agent's connection over a protocol. */
  urlOf(wire: Wire): string;
  /** A transcription server that hears the agent's sound alone, in a process of its own. */
  readonly transcriptionUrl: string;
  close(): Promise<void>;
}

/**
 * Starts the reference agent on each platform.
 * @param lines that its callers say
 * @param faults in its words that it may have
 */
export async function startPlatforms(lines: readonly string[], faults: readonly FaultName[]): Promise<Platforms> {
  const calls = new VoiceCalls();
  const prepared = await calls.prepareFor(lines, faults).finally(() => calls.close());
  const listening = { lines, faults, today: TODAY, behaviour: {}, sentences: [PROBE_SENTENCE] };
  const transcription = await ListeningProcess.start(listening);
  const service = { now: () => TODAY, prepare: () => Promise.resolve(prepared) };
  const servers = new Map<Wire['platform'], ReferenceAgentServer>();
  for (const platform of new Set(WIRES.map((wire) => wire.platform))) {
    servers.set(platform, await startReferenceAgent({ port: 0, now: () => TODAY, [platform]: service }));
  }
  return {
    urlOf: ({ platform, path }) => {
      const { url } = servers.get(platform)!;
      return `${platform === 'realtime' ? url.replace(/^http/, 'ws') : url}${path}`;
    },
    transcriptionUrl: transcription.url,
    close: async () => {
      await Promise.all([...servers.values()].map((server) => server.close()));
      await transcription.stop();
    },
  };
}
