/** What a secret is replaced with. */
export const REDACTED = '[redacted]';
/** Length of the pieces of secrets that are looked up, and their distance; any common part of `MIN_PART` contains one. */
const PIECE = 8;
const STEP = 4;
/** The distance in long secrets, such as tokens, whose pieces would be too many. */
const LONG_SECRET = 512;
const LONG_STEP = 32;
/** Secrets that are looked for by the same piece: each of them is compared wherever it occurs. The first ones count. */
const MAX_SAME = 32;
/** Shorter parts of a secret may be words that occur by chance. */
const MIN_PART = 12;
/** Shorter secrets are not removed: the text would become unreadable. */
const MIN_SECRET = 4;

/** A piece of a secret. */
interface Piece {
  /** A form of the secret, in lower case. */
  readonly form: string;
  /** Where the piece first occurs in it. */
  readonly at: number;
}

/**
 * Removes secrets from texts of others, who may repeat what was sent to them: in full, or at least 12 characters of them
 * (40 if a secret has more than 500), in any letter case, also as base64, hexadecimal, reversed, percent-encoded, or
 * escaped as in JSON or HTML. Secrets shorter than four characters are not removed, nor are those whose characters were
 * separated or replaced by others. Takes linear time.
 */
export class Redaction {
  /** By its text; at most one of each form, and `MAX_SAME`. */
  private readonly pieces = new Map<string, Piece[]>();
  /** Forms that are shorter than a piece, by their first `MIN_SECRET` characters. */
  private readonly short = new Map<string, string>();

  constructor(secrets: readonly string[]) {
    const forms = new Set(secrets.filter(({ length }) => length >= MIN_SECRET).flatMap(formsOf));
    for (const form of forms) {
      if (form.length < PIECE) this.short.set(form.slice(0, MIN_SECRET), form);
      const step = form.length < LONG_SECRET ? STEP : LONG_STEP;
      for (let at = 0; at + PIECE <= form.length; at += step) {
        const text = form.slice(at, at + PIECE);
        const same = this.pieces.get(text) ?? [];
        if (same.length === MAX_SAME || same.at(-1)?.form === form) continue;
        same.push({ form, at });
        this.pieces.set(text, same);
      }
    }
  }

  /** The text without the secrets. */
  clean(text: string): string {
    if (this.pieces.size === 0 && this.short.size === 0) return text;
    const lower = lowerCase(text);
    let cleaned = '';
    let copied = 0;
    for (let index = 0; index < text.length;) {
      const found = this.find(lower, index, copied);
      if (!found) {
        index++;
        continue;
      }
      cleaned += text.slice(copied, found.from) + REDACTED;
      index = copied = found.to;
    }
    return cleaned + text.slice(copied);
  }

  /** A secret, or a part of one, at this position or around it. @param from where the search may begin */
  private find(text: string, index: number, from: number): Found | undefined {
    const short = this.short.get(text.slice(index, index + MIN_SECRET));
    if (short !== undefined && text.startsWith(short, index)) return { from: index, to: index + short.length };
    let longest: Found | undefined;
    for (const piece of this.pieces.get(text.slice(index, index + PIECE)) ?? []) {
      const found = extend(piece, text, index, from);
      const length = found.to - found.from;
      if (length < Math.min(MIN_PART, piece.form.length)) continue;
      if (!longest || length > longest.to - longest.from) longest = found;
    }
    return longest;
  }
}

interface Found {
  readonly from: number;
  readonly to: number;
}

/** The whole part of the text around a piece that equals the secret. */
function extend({ form, at }: Piece, text: string, index: number, from: number): Found {
  let before = 0;
  while (index - before > from && before < at && text[index - before - 1] === form[at - before - 1]) before++;
  let after = PIECE;
  while (at + after < form.length && text[index + after] === form[at + after]) after++;
  const [begin, end] = [index - before, index + after];
  return { from: isInPair(text, begin) ? begin - 1 : begin, to: isInPair(text, end) ? end + 1 : end };
}

/** Whether a surrogate pair would be cut in two, which leaves a text that databases refuse. */
const isInPair = (text: string, at: number): boolean => text.codePointAt(at - 1)! > 0xffff;

/** Unlike `toLowerCase`, keeps the length of the text. */
const lowerCase = (text: string): string => text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());

/** The ways in which a secret is commonly written, in lower case. */
function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret, 'utf8');
  const json = JSON.stringify(secret).slice(1, -1);
  const forms = [
    secret,
    json,
    json.replaceAll('/', '\\/'),
    json.replace(/[^\x20-\x7e]/g, unicodeEscape),
    encodeURIComponent(secret.toWellFormed()),
    encodeURI(secret.toWellFormed()),
    encodeURIComponent(secret.toWellFormed()).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16)}`),
    new URLSearchParams({ '': secret }).toString().slice(1),
    secret.replace(/[&<>"']/g, (char) => HTML[char]!),
    secret.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`),
    bytes.toString('hex'),
    [...secret].reverse().join(''),
    ...escapedForms(secret, /./gsu),
    ...escapedForms(secret, /[^a-z0-9]/giu),
    ...base64Forms(bytes),
  ];
  return forms.map(lowerCase);
}

/** Forms in which all these characters are escaped, not only those that have to be. */
const escapedForms = (secret: string, characters: RegExp): string[] => [
  secret.replace(characters, (char) => Buffer.from(char).toString('hex').replace(/../g, '%$&')),
  secret.replace(characters, (char) => `&#${char.codePointAt(0)};`),
  secret.replace(characters, (char) => `&#x${char.codePointAt(0)!.toString(16)};`),
  secret.replace(characters, (char) => char.replace(/./gs, unicodeEscape)),
];

const unicodeEscape = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;

const HTML: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#x27;' };

/** Base64 of the bytes at each offset within a longer text, without the characters that also depend on their neighbours. */
function base64Forms(bytes: Buffer): string[] {
  return [0, 1, 2].flatMap((offset) => {
    const encoded = Buffer.concat([Buffer.alloc(offset), bytes])
      .toString('base64')
      .replace(/=+$/, '');
    const from = Math.ceil((offset * 8) / 6);
    const to = Math.floor(((offset + bytes.length) * 8) / 6);
    const inner = encoded.slice(from, to);
    // Shorter ones would also match by chance.
    return inner.length < PIECE ? [] : [inner, inner.replaceAll('+', '-').replaceAll('/', '_')];
  });
}
