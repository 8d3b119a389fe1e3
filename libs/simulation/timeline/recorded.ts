/** How a call is known that the service did not make. */
export interface Recorded {
  /** By its sound, or only by what was said, whose times are rough. */
  readonly by: 'recording' | 'transcript';
  /** Present if its caller was a real one, who follows no script: what the call cannot show is then not asked. */
  readonly isProduction?: true;
}
