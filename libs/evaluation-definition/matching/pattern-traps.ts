/** `/…/flags`, as JavaScript and Perl write it. */
const SLASHES = /^\/(.+)\/([a-z]*)$/s;
const RE2_FLAGS = /[ims]/g;

/** What certainly means something else than what was meant, in a pattern of what is said; as the end of a sentence. */
export function patternTrap(source: string): string | undefined {
  const [, inner, flags = ''] = SLASHES.exec(source) ?? [];
  if (inner !== undefined) {
    const kept = [...new Set(flags.match(RE2_FLAGS))].join('');
    const form = `${kept === '' ? '' : `(?${kept})`}${inner.replaceAll('\\/', '/')}`;
    return `must not stand between slashes: write ${shortened(form)}, and [/] for a slash that is said`;
  }
  if (source.includes('\b')) return 'must not contain the backspace that "\\b" in double quotes is: use single quotes';
  const doubled = /^(?:[^\\]|\\[^\\])*(\\\\(?:b|[dswBDSW](?![a-z])))/.exec(source)?.[1];
  if (doubled === undefined) return undefined;
  return `must not have ${doubled}, a backslash and a letter: write ${doubled.slice(1)}, and [\\\\] for a backslash`;
}

/** What people do not say, but a regular expression has: `/closed/i`, `a.*b`, `(a|b)`, `\\d`, `[a-z]`. */
const SYNTAX =
  /^\/.+\/[gimsuy]*$|\w\.\*|\w\|\w|\\[dswDSW](?:[+*{?]|\\|\s|$)|\\b\w+\\b|\[[^\]]*\w-\w[^\]]*\]|^\(\?[a-z]+\)/s;

/** What is wrong with a text to search for that is certainly a pattern, as the end of a sentence. */
export const textTrap = (text: string): string | undefined =>
  SYNTAX.test(text)
    ? 'is compared as it is written, and looks like a regular expression: write it as pattern, such as (?i)closed'
    : undefined;

/** What to write instead of syntax that RE2 lacks; or nothing. */
export function instead(source: string): string {
  if (/\(\?<?[=!]/.test(source))
    return '; there is no look-around: write two checks, or the unwanted part as never_says or a check "type: not"';
  return /\\[1-9]/.test(source) ? '; there are no back-references: write the alternatives out' : '';
}

const shortened = (text: string): string => (text.length > 80 ? `${text.slice(0, 80)}…` : text);
