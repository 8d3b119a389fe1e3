import type { MediaTiming, VoiceMeasures, VoiceResult } from '../../simulation/index.js';

/** What a report shows of a voice call beside its timeline. */
export interface ReportedVoice extends Pick<VoiceResult, 'wireFindings' | 'words' | 'lanes'> {
  /** Absent in results of earlier versions; null if no words of the agent are known. */
  readonly wordsFrom?: VoiceResult['wordsFrom'];
  readonly measures: VoiceMeasures;
  /** How late the tester sent its frames, in milliseconds. */
  readonly frameLatenessMs?: NonNullable<MediaTiming['frameLatenessMs']>;
  /** Its length and size in bytes; null if nothing was recorded. */
  readonly recording: { readonly seconds: number; readonly bytes: number } | null;
}

/** Audio of a call. */
export interface ReportedAudio {
  /** For each lane the lowest and highest sample of equal parts of the call in turn, -32,768 to 32,767. */
  readonly peaks: { readonly caller: ArrayLike<number>; readonly agent: ArrayLike<number> };
  /** The recording as WAV; absent if it was not wanted. */
  readonly wav?: Uint8Array;
}

/**
 * Reads the audio of a call; undefined if it was deleted.
 * @param wanted whether the recording is needed beside its peaks
 */
export type AudioReader = (callId: string, wanted: { readonly wav: boolean }) => Promise<ReportedAudio | undefined>;
