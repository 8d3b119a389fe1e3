/** Recordings inside a page, in bytes before they are encoded: of one call (five minutes), and of all together. */
export const MAX_AUDIO = { call: 5_000_000, page: 8_000_000 } as const;

/** Limits the audio inside a page: recordings of calls that did not pass, as long as there is room. */
export class AudioBudget {
  private left: number = MAX_AUDIO.page;

  /** Whether the recording of this call is part of the page; counts it if so. @param bytes its size */
  takes(outcome: string | null, bytes: number): boolean {
    if (outcome === 'passed' || bytes > MAX_AUDIO.call || bytes > this.left) return false;
    this.left -= bytes;
    return true;
  }
}
