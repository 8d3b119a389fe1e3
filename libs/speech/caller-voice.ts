import { coversLanguage } from '../text/index.js';
import { BACKCHANNEL_VOICES } from './sounds/sounds.js';
import { voiceOf, type VoiceSettings } from './voice-of.js';

/** The voices of a speech server. */
export interface ServerVoices {
  /** Beginning of the names of its settings, such as `TTS`. */
  readonly setting: string;
  /** By gender; at least one. */
  readonly voices: Readonly<Partial<Record<VoiceSettings['gender'], string>>>;
  /** BCP 47. */
  readonly languages: readonly string[];
}

/** The speech server of each provider of voices; those without one have the embedded voices. */
export type VoiceServers<Server extends ServerVoices = ServerVoices> = Readonly<Partial<Record<string, Server>>>;

export interface CallerVoice<Server extends ServerVoices = ServerVoices> {
  /** Undefined: the embedded voices. */
  readonly server: Server | undefined;
  readonly voice: string;
  /** The voice of a platform that speaks for the agent. */
  readonly platformVoice: string;
  /** Why the voice is not exactly what the settings ask for. */
  readonly warning?: string;
}

const EMBEDDED_LANGUAGES = ['en'];

/**
 * Who speaks for a caller: the speech server of its provider if that speaks the language, otherwise an embedded voice
 * for English. Undefined if neither does.
 * @param language BCP 47
 */
export function callerVoice<Server extends ServerVoices>(
  settings: VoiceSettings,
  language: string,
  servers: VoiceServers<Server>,
): CallerVoice<Server> | undefined {
  const server = servers[settings.provider];
  if (server && coversLanguage(server.languages, language)) return ofServer(settings, server);
  if (!coversLanguage(EMBEDDED_LANGUAGES, language)) return undefined;
  return { server: undefined, platformVoice: BACKCHANNEL_VOICES.MALE, ...voiceOf(settings) };
}

/** What the caller's voices speak, and how to get further languages: the rest of a sentence. */
export function callerLanguages(
  provider: string,
  servers: VoiceServers,
): { readonly languages: readonly string[]; readonly cure: string } {
  const server = servers[provider];
  if (!server) return { languages: EMBEDDED_LANGUAGES, cure: 'TTS_BASE_URL and TTS_LANGUAGES add a speech server' };
  const cure = `${server.setting}_LANGUAGES names what the speech server speaks`;
  return { languages: [...new Set([...EMBEDDED_LANGUAGES, ...server.languages])], cure };
}

function ofServer<Server extends ServerVoices>(
  { gender, accent, voice_id }: VoiceSettings,
  server: Server,
): CallerVoice<Server> {
  const { MALE, FEMALE } = server.voices;
  const platformVoice = MALE ?? FEMALE ?? '';
  const named = voice_id.trim();
  if (named !== '') return { server, voice: named, platformVoice };
  const voice = server.voices[gender] ?? platformVoice;
  const warnings = [
    ...(server.voices[gender] === undefined
      ? [`${server.setting}_VOICE_${gender} is not set, so the caller speaks with the voice "${voice}"`]
      : []),
    ...(accent.trim() === '' ? [] : ['accent has no effect on the voices of a speech server; voice_id names one']),
  ];
  return { server, voice, platformVoice, ...(warnings.length > 0 && { warning: warnings.join('; ') }) };
}
