import { visible } from '../text/index.js';

/** Azure Pipelines, GitLab and Jenkins read `[[ATTACHMENT|path]]` in a report as a file to attach. */
const inert = (text: string): string => visible(text).replace(/\[(?=\[ATTACHMENT\|)/gi, '[\u200B');

/** Escapes text for XML 1.0; forbidden characters are replaced by visible symbols. */
export const xmlText = (text: string): string => inert(text).replace(/[&<>]/g, reference);

/** Escapes a value for an attribute in double quotes; parsers would replace line ends and tabs by spaces. */
export const xmlAttribute = (text: string): string => inert(text).replace(/[&<>"'\n\t]/g, reference);

const reference = (character: string): string => `&#${character.charCodeAt(0)};`;

/** Name and attributes of a start tag. */
export const xmlTag = (name: string, attributes: Readonly<Record<string, string | number | undefined>>): string =>
  Object.entries(attributes).reduce(
    (tag, [key, value]) => (value === undefined ? tag : `${tag} ${key}="${xmlAttribute(String(value))}"`),
    name,
  );

/** An element that contains only text. */
export const xmlElement = (
  name: string,
  attributes: Readonly<Record<string, string | number | undefined>>,
  text: string,
): string => `<${xmlTag(name, attributes)}>${xmlText(text)}</${name}>`;
