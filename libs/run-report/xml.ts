import { visible } from '../text/index.js';

/** Text of an XML 1.0 document. What XML forbids is replaced visibly. */
export const xmlText = (text: string): string => visible(text).replace(/[&<>]/g, reference);

/** Value of an XML attribute in double quotes; a parser would turn line ends and tabs into spaces. */
export const xmlAttribute = (text: string): string => visible(text).replace(/[&<>"'\n\t]/g, reference);

const reference = (character: string): string => `&#${character.charCodeAt(0)};`;

/** A start tag's inside: the name and the attributes that there are. */
export const xmlTag = (name: string, attributes: Readonly<Record<string, string | number | undefined>>): string =>
  Object.entries(attributes).reduce(
    (tag, [key, value]) => (value === undefined ? tag : `${tag} ${key}="${xmlAttribute(String(value))}"`),
    name,
  );

/** An element that holds text and nothing else. */
export const xmlElement = (
  name: string,
  attributes: Readonly<Record<string, string | number | undefined>>,
  text: string,
): string => `<${xmlTag(name, attributes)}>${xmlText(text)}</${name}>`;
