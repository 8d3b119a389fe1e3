import { clipped, oneLine, visible } from '../text/index.js';

/**
 * What the service says, as it may be printed: names and reasons come from users and agents, and a terminal obeys
 * escape sequences. On one line; control characters and characters that turn the direction of text get a stand-in.
 */
export const plain = (text: string, length = 400): string => clipped(visible(oneLine(text)), length);

/**
 * As it may stand within a line of Markdown, also in a cell of a table: neither markup, nor HTML, nor a link, nor a
 * mention that would notify somebody. References to characters are never markup (CommonMark 0.31, 2.5).
 */
export const markdownText = (text: string, length = 300): string =>
  plain(text, length)
    .replace(/[\\`*_{}[\]<>()|~$&"'#!]/g, (character) => `&#${character.charCodeAt(0)};`)
    // GFM makes links of bare addresses; an invisible space keeps it from doing so.
    .replace(/:\/\/|www\./gi, (match) => `${match.slice(0, -1)}&#8203;${match.slice(-1)}`)
    // A mention is found behind such a space, too, but not with one in it.
    .replaceAll('@', '@&#8203;');
