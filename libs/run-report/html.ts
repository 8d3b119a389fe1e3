import { visible } from '../text/index.js';

/** Safe HTML; created only by the tag `html`. */
export class Html {
  readonly #text: string;

  private constructor(text: string) {
    this.#text = text;
  }

  toString(): string {
    return this.#text;
  }

  /** Marks a constant of this program, such as the style sheet, as safe. Never for untrusted text. */
  static trusted(text: string): Html {
    return new Html(text);
  }
}

type Value = Html | string | number | null | undefined | false | readonly Value[];

/**
 * Template tag for HTML. Escapes every value that is not `Html`, for text and for attributes in double quotes. Lists are
 * joined; null, undefined and false are omitted.
 */
export const html = (parts: TemplateStringsArray, ...values: readonly Value[]): Html =>
  Html.trusted(String.raw({ raw: parts.map(unindented) }, ...values.map(escaped)));

/** Indentation of the source would be a third of the page. */
const unindented = (part: string): string => part.replace(/\n\s+/g, '\n');

function escaped(value: Value): string {
  if (value === null || value === undefined || value === false) return '';
  if (value instanceof Html) return value.toString();
  if (typeof value === 'object') return value.map(escaped).join('');
  return visible(String(value)).replace(/[&<>"'`]/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** Nothing to show. */
export const NOTHING = html``;
