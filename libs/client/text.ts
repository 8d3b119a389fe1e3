import { clipped, oneLine, visible } from '../text/index.js';

/**
 * Untrusted text for the terminal: names and reasons come from users and agents and may contain escape sequences. On one
 * line; control characters and bidirectional overrides are replaced by visible symbols.
 */
export const plain = (text: string, length = 400): string => clipped(visible(oneLine(text)), length);

/**
 * Untrusted text for a line or table cell of Markdown, without markup, HTML, links or mentions. Character references are
 * never markup (CommonMark 0.31, 2.5).
 */
export const markdownText = (text: string, length = 300): string =>
  plain(text, length)
    .replace(/[\\`*_{}[\]<>()|~$&"'#!]/g, (character) => `&#${character.charCodeAt(0)};`)
    // A zero-width space prevents GFM from linking bare URLs.
    .replace(/:\/\/|www\./gi, (match) => `${match.slice(0, -1)}&#8203;${match.slice(-1)}`)
    // A mention is recognised after a zero-width space, but not with one after the @.
    .replaceAll('@', '@&#8203;');
