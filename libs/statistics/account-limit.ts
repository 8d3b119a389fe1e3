/** What is said beside the latencies of a run. @param waited calls for which no line of their platform, or no number at which agents call, was free at first */
export const accountLimitNote = (waited: number): string | undefined =>
  waited === 0
    ? undefined
    : `${waited} ${waited === 1 ? 'call' : 'calls'} waited for a free line of the platform, or for a free number at which the agent calls: where the account carried as many calls as it may, latencies may be the account's, not the agent's.`;
