import { oneLine, visible } from '../../../libs/text/index.js';

/** The characters that Slack's markup begins with; Slack does not read them again once they are escaped. */
const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** Invisible characters, which hide one text in another; Persian and emoji need the two joiners. */
const INVISIBLE = /(?![\u200C\u200D])\p{Cf}/gu;

/** Where an address, a link or image in Markdown, or a spoiler of Discord is interrupted. */
const JOINTS = /(?=\.[^\s\d])|(?=:\S)|(?<=[|\]])(?=\S)/gu;

/**
 * Text of others for a message in Slack's mrkdwn: on one line, without markup, links and mentions. Mattermost and Discord read
 * Markdown, decode entities and mention for `@` alone, so escaping as for Slack is not enough.
 * @param length maximum in UTF-16 units, as escaped
 */
export function plain(text: string, length: number): string {
  const defused = visible(oneLine(text.replace(INVISIBLE, '')))
    .replaceAll('@', '＠')
    .replaceAll('`', "'")
    .replace(JOINTS, '\u200B');
  let escaped = '';
  for (const character of defused) {
    const next = ENTITIES[character] ?? character;
    if (escaped.length + next.length >= length) return `${escaped}…`;
    escaped += next;
  }
  return escaped;
}

/** A link; the address has no character of the markup, and `label` is a text of ours. */
export const link = (url: string, label: string): string => `<${url}|${label}>`;
