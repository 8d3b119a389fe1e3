/** What is said beside the latencies of a run. @param waited calls for which no line of their platform was free at first */
export const accountLimitNote = (waited: number): string | undefined =>
  waited === 0
    ? undefined
    : `${waited} ${waited === 1 ? 'call' : 'calls'} waited for a line of the platform, which carried as many as the account may have: latencies may be the account's, not the agent's.`;
