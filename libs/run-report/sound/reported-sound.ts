import type { MediaTiming, RecordingFacts, VoiceMeasures, VoiceResult } from '../../simulation/index.js';

/** What a report shows of a call with sound beside its timeline. */
export interface ReportedVoice extends Pick<VoiceResult, 'wireFindings' | 'words' | 'lanes'> {
  readonly measures: VoiceMeasures;
  /** How late the tester sent its frames, in milliseconds. */
  readonly frameLatenessMs?: NonNullable<MediaTiming['frameLatenessMs']>;
  /** Null if nothing was recorded. */
  readonly recording: RecordingFacts | null;
}

/** Sound of a call. */
export interface ReportedSound {
  /** For each lane the lowest and highest sample of equal parts of the call in turn, -32,768 to 32,767. */
  readonly peaks: { readonly caller: ArrayLike<number>; readonly agent: ArrayLike<number> };
  /** The recording as WAV; absent if it was not wanted. */
  readonly wav?: Uint8Array;
}

/**
 * Reads the sound of a call; undefined if it was deleted.
 * @param wanted whether the recording is needed beside its peaks
 */
export type SoundReader = (callId: string, wanted: { readonly wav: boolean }) => Promise<ReportedSound | undefined>;
