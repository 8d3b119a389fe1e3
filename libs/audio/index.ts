/**
 * * Audio as 16-bit samples: telephone codecs, WAV, resampling, levels, playout buffer, energy gate, tones and line
 * conditions. Pure and synchronous: no clock, no I/O, no dependency.
 */
export { TelephoneBandFilter } from './band-filter.js';
export { type Background, BedGate, type LevelRange } from './bed-gate.js';
export { EnergyGate, type GateEvent } from './energy-gate.js';
export { AudioDecoder, type AudioFormat, bytesPerSecond, decodeAudio, encodeAudio } from './format.js';
export {
  decodeAlaw,
  decodeAlawSample,
  decodeMulaw,
  decodeMulawSample,
  encodeAlaw,
  encodeAlawSample,
  encodeMulaw,
  encodeMulawSample,
  MULAW_FULL_SCALE,
  MULAW_SILENCE,
} from './g711.js';
export {
  activeLevel,
  amplitudeOf,
  applyGain,
  ClippingMeter,
  dbfs,
  LevelMeter,
  normaliseLevel,
  saturate,
  speechBounds,
} from './level.js';
export { mix, peaks } from './mix.js';
export { Hum, Loop, Noise, NOISE_COLOURS, type NoiseColour, type SoundSource } from './noise.js';
export { NumberRows } from './number-rows.js';
export { PacketSchedule } from './packet-schedule.js';
export { PlayoutBuffer } from './playout-buffer.js';
export { Random } from './random.js';
export { AUDIO_RATES, FRAME_MS, LINE_RATES, type LineRate, TELEPHONE_RATE } from './rates.js';
export { resample, StreamResampler } from './resample.js';
export { partitionPoint } from './search.js';
export { canBeSaidIn, FASTEST_SPEECH, slowestSpeechMs, spokenWords } from './speech-rate.js';
export type { ReachedLevel } from './level-history.js';
export { dtmfTone, tone } from './tone.js';
export {
  deinterleave,
  interleave,
  readWav,
  WavError,
  type WavFormat,
  wavHeader,
  type WavLayout,
  wavLayout,
  writeWav,
} from './wav.js';
