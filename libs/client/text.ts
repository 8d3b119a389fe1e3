import { clipped, oneLine, visible } from '../text/index.js';

/** What vat itself sends to a terminal: colours, and the erasure of the line of progress. */
const OWN_SEQUENCE = /(\u001B\[\d+m|\r\u001B\[2K)/;
const CONTROL = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F]/g;
/** The first character of a command of Azure Pipelines or TeamCity, also with colours inside, which a log may remove. */
const CI_COMMAND = new RegExp(
  '#(?=C#C(?:vCsCoC|tCeCaCmCcCiCtCyC)?\\[)'.replaceAll('C', String.raw`(?:\u001B\[\d+m)*`),
  'gi',
);

/**
 * Everything that vat writes to standard output and standard error passes here, when its lines are complete. Names and
 * reasons come from users and agents: they must not be obeyed as control characters by a terminal, nor as commands by the
 * log of GitHub Actions (`::` at the start of a line), Azure Pipelines (`##[` and `##vso[` anywhere) or TeamCity (`##teamcity[`).
 */
export const printable = (text: string): string =>
  text
    .split(OWN_SEQUENCE)
    .map((part, index) => (index % 2 === 1 ? part : inert(part)))
    .join('')
    .replace(CI_COMMAND, '#\u200B')
    .replace(/(^|[\n\r])((?:[^\S\n\r]|\u001B\[\d+[mK])*):(?=(?:\u001B\[\d+[mK])*:)/g, '$1$2:\u200B');

/** Control characters become U+FFFD, except newline and tab; bidirectional overrides become visible symbols. */
const inert = (text: string): string => visible(text.replace(/\r\n?/g, '\n').replace(CONTROL, '\uFFFD'));

/** Untrusted text as part of a line: on one line and shortened. */
export const plain = (text: string, length = 400): string => clipped(inert(oneLine(text)), length);

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
