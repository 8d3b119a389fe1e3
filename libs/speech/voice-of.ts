import { FLITE_VOICES, type FliteVoiceName, isFliteVoice } from './flite/voices.js';

/** The fields of a personality that choose a voice. */
export interface VoiceSettings {
  readonly gender: 'FEMALE' | 'MALE';
  readonly accent: string;
  readonly voice_id: string;
  /** Names a provider of voices; has no effect on the embedded voices. */
  readonly provider: string;
}

export interface ChosenVoice {
  readonly voice: FliteVoiceName;
  /** Why the voice is not exactly what the settings ask for. */
  readonly warning?: string;
}

/** Accents as people write them, in the order in which they are looked for. */
const ACCENTS = [
  ['scottish', /\bscot/i],
  ['american', /\b(americ|u\.?s\.?a?\b|united states|en-us\b|general american)/i],
] as const;

const DEFAULTS = { FEMALE: 'slt', MALE: 'rms' } as const satisfies Record<VoiceSettings['gender'], FliteVoiceName>;

/**
 * The embedded voice of a personality: the one that `voice_id` names; otherwise a voice of the gender with the accent;
 * otherwise `slt` (FEMALE) or `rms` (MALE), with a warning if the accent is not theirs.
 */
export function voiceOf({ gender, accent, voice_id }: VoiceSettings): ChosenVoice {
  const wanted = voice_id.trim().toLowerCase();
  if (isFliteVoice(wanted)) return { voice: wanted };
  const warnings = wanted === '' ? [] : [unknownVoice(voice_id)];
  const name = ACCENTS.find(([, pattern]) => pattern.test(accent))?.[0];
  const voice = (name && voiceWith(gender, name)) ?? DEFAULTS[gender];
  if (accent.trim() !== '' && FLITE_VOICES[voice].accent !== name) {
    warnings.push(
      `there is no embedded ${gender.toLowerCase()} voice with the accent "${accent}"; the caller speaks ` +
        `with the ${FLITE_VOICES[voice].accent} voice ${voice}`,
    );
  }
  return warnings.length > 0 ? { voice, warning: warnings.join('; ') } : { voice };
}

function voiceWith(gender: VoiceSettings['gender'], accent: string): FliteVoiceName | undefined {
  if (FLITE_VOICES[DEFAULTS[gender]].accent === accent) return DEFAULTS[gender];
  return (Object.keys(FLITE_VOICES) as FliteVoiceName[]).find(
    (name) => FLITE_VOICES[name].gender === gender && FLITE_VOICES[name].accent === accent,
  );
}

const unknownVoice = (id: string): string =>
  `voice_id "${id}" is not an embedded voice (${Object.keys(FLITE_VOICES).join(', ')}), so gender and accent choose`;
