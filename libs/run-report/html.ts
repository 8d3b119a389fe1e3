import { visible } from '../text/index.js';

/** HTML that is safe to show; only `html` makes it. */
export class Html {
  /** Nobody else may have what he wrote taken for safe. */
  readonly #text: string;

  private constructor(text: string) {
    this.#text = text;
  }

  toString(): string {
    return this.#text;
  }

  /** Text of this program's own, such as the style sheet; never of anybody else. */
  static trusted(text: string): Html {
    return new Html(text);
  }
}

type Value = Html | string | number | null | undefined | false | readonly Value[];

/**
 * A piece of HTML. Everything put into it is escaped, for text and for attributes in double quotes alike, unless it is
 * such a piece itself; lists are joined; null, undefined and false are nothing. The only place that escapes.
 */
export const html = (parts: TemplateStringsArray, ...values: readonly Value[]): Html =>
  Html.trusted(String.raw({ raw: parts.map(unindented) }, ...values.map(escaped)));

/** The indentation of the source would be a third of a page. */
const unindented = (part: string): string => part.replace(/\n\s+/g, '\n');

function escaped(value: Value): string {
  if (value === null || value === undefined || value === false) return '';
  if (value instanceof Html) return value.toString();
  if (typeof value === 'object') return value.map(escaped).join('');
  return visible(String(value)).replace(/[&<>"'`]/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** Nothing to show. */
export const NOTHING = html``;
