/** What a result was computed with. */
export interface CallVersions {
  readonly simulation: string;
  readonly transport: string;
  /** `recorded`: the call was recorded elsewhere. */
  readonly caller: 'scripted' | 'generated' | 'recorded';
  /** Null when no language model was used. */
  readonly model: string | null;
  readonly callerPrompt: string | null;
  readonly judgePrompt: string | null;
  /** The speech engine of the caller with its version; absent for text calls, and in calls of earlier versions. */
  readonly speech?: string;
}
