/**
 * Extracts the JSON object from a model's answer, which may contain a code block or text around it.
 * @returns undefined when there is none
 */
export function extractJsonObject(answer: string): Readonly<Record<string, unknown>> | undefined {
  const from = answer.indexOf('{');
  const to = answer.lastIndexOf('}');
  if (from === -1 || to < from) return undefined;
  try {
    const value: unknown = JSON.parse(answer.slice(from, to + 1));
    return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : undefined;
  } catch {
    return undefined;
  }
}
