import { isObject } from '../../json-input/index.js';
import { oneLine, visible } from '../../text/index.js';
import { withoutMarks } from './marks.js';
import type { Transcription, TranscribedWord } from './recogniser.js';

/** Characters of one answer. */
const MAX_CHARACTERS = 4_000;
/** Where servers have the text. */
const TEXTS = ['text', 'transcript', 'transcription'] as const;
/** Above it, in all segments, a model says that it invented the text. */
const NO_SPEECH = 0.8;

interface Piece {
  readonly text: string;
  readonly startMs: number;
  readonly endMs: number;
}

/**
 * The words in the JSON of a server, of any dialect: words at the top or in segments, whole or as pieces, with times as
 * numbers or as text. Marks that are not words, and times that cannot be right, are left out.
 * @param durationMs length of the audio
 * @returns undefined if it is not an answer of a transcription server
 */
export function readTranscription(json: string, durationMs: number): Transcription | undefined {
  const answer = parsed(json);
  if (!isObject(answer)) return undefined;
  const segments = objectsIn(answer['segments']);
  const pieces = piecesOf([answer, ...segments].flatMap(({ words }) => objectsIn(words)));
  const given = [
    ...TEXTS.map((name) => answer[name]),
    segments.map(({ text }) => (typeof text === 'string' ? text : '')).join(' '),
    joined(pieces),
  ];
  const text = given.find((one): one is string => typeof one === 'string' && one.trim() !== '');
  const isInvented = segments.length > 0 && segments.every(({ no_speech_prob: p }) => Number(p) > NO_SPEECH);
  if (isInvented) return { text: '' };
  if (text === undefined) return TEXTS.some((name) => name in answer) ? { text: '' } : undefined;
  const written = sanitised(text);
  const { text: spoken, words: spokenOf, isPartial } = withoutMarks(written, durationMs);
  const all = timed(written, pieces, durationMs)?.map((word, index) => ({ ...word, text: spokenOf[index]! }));
  const words = all?.filter((word) => word.text !== '') ?? timed(spoken, pieces, durationMs);
  return { text: spoken, ...(words && { words }), ...(isPartial && { isPartial }) };
}

/** Pieces of a word begin without the space that a new word begins with; other servers write words without spaces. */
const joined = (pieces: readonly Piece[]): string =>
  pieces.map(({ text }) => text).join(pieces.some(({ text }, index) => index > 0 && /^\s/.test(text)) ? '' : ' ');

const sanitised = (text: string): string => oneLine(visible(text)).slice(0, MAX_CHARACTERS).toWellFormed().trim();

/** Some servers write a line of JSON for each segment. */
function parsed(text: string): unknown {
  const whole = parsedJson(text);
  if (whole !== undefined) return whole;
  const segments = text.trim().split('\n').map(parsedJson);
  return segments.every(isObject) ? { text: null, segments } : undefined;
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function piecesOf(words: readonly Record<string, unknown>[]): Piece[] {
  return words.map(({ word, text, start, end }) => ({
    text: typeof word === 'string' ? word : typeof text === 'string' ? text : '',
    startMs: milliseconds(start),
    endMs: milliseconds(end),
  }));
}

/** Seconds as a number or as text. */
function milliseconds(value: unknown): number {
  if (typeof value === 'string' && value.trim() !== '') return Number(value) * 1_000;
  return typeof value === 'number' ? value * 1_000 : NaN;
}

/**
 * The words of the text, each with the time from the first to the last of its letters in the pieces: a server may write
 * pieces without punctuation, or several for one word.
 */
function timed(text: string, pieces: readonly Piece[], durationMs: number): TranscribedWord[] | undefined {
  if (pieces.length === 0 || !pieces.every((piece) => isPossible(piece, durationMs))) return undefined;
  const ofLetter = pieces.flatMap((piece) => Array.from(lettersOf(piece.text), () => piece));
  if (ofLetter.length === 0 || lettersOf(pieces.map((piece) => piece.text).join('')) !== lettersOf(text))
    return undefined;
  let at = 0;
  return text.split(' ').map((word) => {
    const { length } = Array.from(lettersOf(word));
    const first = ofLetter[Math.min(at, ofLetter.length - 1)]!;
    at += length;
    const last = ofLetter[Math.max(0, at - 1)]!;
    return { text: word, startMs: Math.min(first.startMs, last.endMs), endMs: last.endMs };
  });
}

const isPossible = ({ startMs, endMs }: Piece, durationMs: number): boolean =>
  startMs >= 0 && endMs >= startMs && endMs <= durationMs + ROUNDING_MS;

/** Servers round to tenths of a second or to their own frames. */
const ROUNDING_MS = 100;

const lettersOf = (text: string): string =>
  text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '');

const objectsIn = (value: unknown): Record<string, unknown>[] => (Array.isArray(value) ? value.filter(isObject) : []);
