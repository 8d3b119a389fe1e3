/** The message of anything that was thrown. The message of Node's AggregateError for a refused connection is empty. */
export function messageOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(messageOf).join('; ');
  return error instanceof Error ? error.message : String(error);
}
