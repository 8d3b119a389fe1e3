/** What a person reads of whatever was thrown; Node's errors for a refused connection have an empty message of their own. */
export function messageOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(messageOf).join('; ');
  return error instanceof Error ? error.message : String(error);
}
