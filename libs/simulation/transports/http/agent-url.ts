/** What the placeholders of an agent's URL are replaced with. */
export interface UrlValues {
  readonly assistantId: string;
  readonly phoneNumber: string;
  readonly callId: string;
}

const PLACEHOLDER = /\{(assistantId|phoneNumber|callId)\}/g;
/** A path segment that URL parsers remove, also percent-encoded. */
const DOT_SEGMENT = /^(?:\.|%2e){1,2}$/i;

/**
 * Fills in the placeholders of the agent's URL. The dots of a segment that becomes `.` or `..` are encoded twice: `%2e%2e`
 * would still lead to the parent folder.
 */
export function agentUrl(template: string, values: UrlValues): string {
  const fill = (text: string) =>
    text.replace(PLACEHOLDER, (_all, name: keyof UrlValues) => {
      const encoded = encodeURIComponent(values[name].toWellFormed());
      // SIP servers compare numbers as they are written, and `+` is an ordinary character there.
      return /^sips?:/i.test(template) ? encoded.replaceAll('%2B', '+') : encoded;
    });
  const [, path = '', rest = ''] = /^([^?#]*)([^]*)$/.exec(template) ?? [];
  const filled = path.replace(/[^/\\]+/g, (segment) => {
    const text = fill(segment);
    return text !== segment && DOT_SEGMENT.test(text) ? text.replace(/\.|%2e/gi, '%252e') : text;
  });
  return filled + fill(rest);
}
