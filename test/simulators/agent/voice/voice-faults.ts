/** How the agent behaves on the telephone. Each fault changes one of these properties of the healthy agent. */
export interface VoiceBehaviour {
  /** Whether a sentence that stops in the middle is waited for. */
  readonly waitsForSentence: boolean;
  /** Begins its answer after this much of the caller's speech, whether or not the caller has finished. */
  readonly answersAfterSpeechMs?: number;
  /** Added to the time between the caller's last sound and the answer. */
  readonly delayMs: number;
  readonly yieldsTo: 'speech' | 'any-sound' | 'nothing';
  /** Whether what was already sent is cleared when the caller takes the turn. */
  readonly clears: boolean;
  /** Silence after the first sentence of an answer of several sentences. */
  readonly deadAirMs: number;
  readonly audio: 'right' | 'choppy' | 'quiet' | 'clipped';
  readonly encoding: 'mulaw' | 'mulaw-16k' | 'pcm-24k' | 'wav';
  readonly streamSid: 'right' | 'wrong';
  readonly namesMarks: boolean;
  readonly hearsKeys: boolean;
  readonly hangsUp: 'after-goodbye' | 'mid-sentence' | 'never';
  /** Whether the first answer is a monologue of more than a minute. */
  readonly isEndless: boolean;
}

export const HEALTHY_VOICE: VoiceBehaviour = {
  waitsForSentence: true,
  delayMs: 0,
  yieldsTo: 'speech',
  clears: true,
  deadAirMs: 0,
  audio: 'right',
  encoding: 'mulaw',
  streamSid: 'right',
  namesMarks: true,
  hearsKeys: true,
  hangsUp: 'after-goodbye',
  isEndless: false,
};

interface VoiceFaultDescription {
  /** Predicate for a sentence, such as "interrupts the caller". */
  readonly effect: string;
  /** What a tester must find. */
  readonly detection: string;
  readonly behaviour: Partial<VoiceBehaviour>;
}

/** The faults of the telephone that can be planted, by name. */
export const VOICE_FAULTS = {
  'slow-answer': {
    effect: 'starts every answer late (--slow-ms)',
    detection: 'max_latency_ms: the latency as heard exceeds the limit',
    behaviour: { delayMs: 2_500 },
  },
  'interrupts-caller': {
    effect: "begins its answer after 900 ms of the caller's speech, without waiting for its end",
    detection: 'max_interruptions, max_overlap_ms: the agent begins to speak while the caller speaks',
    behaviour: { answersAfterSpeechMs: 900 },
  },
  'cuts-hesitation': {
    effect: 'takes a pause of 700 ms for the end of the turn in the middle of a sentence, too',
    detection: 'max_interruptions: the agent begins to speak while the caller hesitates',
    behaviour: { waitsForSentence: false },
  },
  'ignores-barge-in': {
    effect: 'keeps speaking when the caller takes the turn',
    detection: 'yields_within_ms: the agent does not stop for the caller',
    behaviour: { yieldsTo: 'nothing' },
  },
  'yields-to-any-sound': {
    effect: 'stops speaking at a cough, a door or an "mm-hmm"',
    detection: 'keeps_speaking: the agent stops although the caller does not want the turn',
    behaviour: { yieldsTo: 'any-sound' },
  },
  'dead-air': {
    effect: 'is silent for 2.6 s after the first sentence of every longer answer',
    detection: 'max_pause_ms: a pause inside an answer exceeds the limit',
    behaviour: { deadAirMs: 2_600 },
  },
  'choppy-sound': {
    effect: 'sends its audio in small pieces, too late, so that the playout runs empty between them',
    detection: 'max_choppiness: gaps inside the speech',
    behaviour: { audio: 'choppy' },
  },
  'too-quiet': {
    effect: 'speaks 20 dB too quietly',
    detection: 'audio_level: the level is below the limit',
    behaviour: { audio: 'quiet' },
  },
  'clipped-sound': {
    effect: 'speaks 26 dB too loudly, so that its audio is clipped',
    detection: 'audio_level: the share of clipped samples, and the level, are above their limits',
    behaviour: { audio: 'clipped' },
  },
  'wrong-encoding': {
    effect: 'sends 16-bit PCM at 24 kHz in place of mu-law at 8 kHz',
    detection: 'clean_protocol: wrong_encoding',
    behaviour: { encoding: 'pcm-24k' },
  },
  'wrong-rate': {
    effect: 'sends mu-law at 16 kHz in real time, which is played at half the speed',
    detection: 'clean_protocol: wrong_rate',
    behaviour: { encoding: 'mulaw-16k' },
  },
  'wav-header': {
    effect: 'sends a WAV header before the audio of every answer',
    detection: 'clean_protocol: file_header_in_media',
    behaviour: { encoding: 'wav' },
  },
  'no-clear': {
    effect: 'stops sending when the caller takes the turn, without clearing what was already sent',
    detection: 'yields_within_ms, clean_protocol: no_clear_on_barge_in',
    behaviour: { clears: false },
  },
  'wrong-stream-sid': {
    effect: 'puts the CallSid in place of the streamSid',
    detection: 'clean_protocol: wrong_stream_sid; nothing of the agent is heard',
    behaviour: { streamSid: 'wrong' },
  },
  'nameless-marks': {
    effect: 'sends marks without a name',
    detection: 'clean_protocol: mark_without_name',
    behaviour: { namesMarks: false },
  },
  'ignores-keys': {
    effect: 'does nothing when the caller presses keys',
    detection: 'hears_keys: no action follows the keys',
    behaviour: { hearsKeys: false },
  },
  'hangs-up-mid-sentence': {
    effect: 'hangs up in the middle of its second answer',
    detection: 'ends_by: the agent ends the call before the caller has said goodbye',
    behaviour: { hangsUp: 'mid-sentence' },
  },
  'never-hangs-up': {
    effect: 'says goodbye and stays on the line',
    detection: 'ends_by: the agent does not end the call after the goodbye',
    behaviour: { hangsUp: 'never' },
  },
  'talks-for-a-minute': {
    effect: 'begins its first answer with more than a minute of praise for the restaurant',
    detection: 'max_duration_ms: the call takes too long',
    behaviour: { isEndless: true },
  },
} as const satisfies Readonly<Record<string, VoiceFaultDescription>>;

export type VoiceFaultName = keyof typeof VOICE_FAULTS;
export const VOICE_FAULT_NAMES = Object.keys(VOICE_FAULTS) as readonly VoiceFaultName[];

export const isVoiceFault = (name: string): name is VoiceFaultName => Object.hasOwn(VOICE_FAULTS, name);

/** The behaviour of an agent with this fault, or of the healthy agent for undefined. */
export function voiceBehaviourOf(fault: VoiceFaultName | undefined): VoiceBehaviour {
  return fault === undefined ? HEALTHY_VOICE : { ...HEALTHY_VOICE, ...VOICE_FAULTS[fault].behaviour };
}
