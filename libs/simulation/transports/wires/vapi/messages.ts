import type { SpokenWord } from '../../../voice/facts/facts.js';
import { Fields } from '../fields.js';

/** Words of the agent as they are played. */
export interface SpokenMessage {
  readonly type: 'spoken';
  readonly turn: number | undefined;
  /** All words of the turn. */
  readonly text: string;
  /** How many of them have been played; undefined if the platform does not say. */
  readonly count?: number;
  /** Those of a piece of audio that is being played, with their places in it. */
  readonly words?: readonly SpokenWord[];
}

/** What is read of the platform's messages. */
export type VapiMessage =
  | SpokenMessage
  | { readonly type: 'model'; readonly turnId: string; readonly text: string }
  | { readonly type: 'transcript' | 'heard'; readonly text: string }
  | { readonly type: 'interrupted' }
  | {
      readonly type: 'tools';
      readonly calls: readonly { readonly id: string; readonly name: string; readonly json: string }[];
    }
  | { readonly type: 'ended'; readonly reason: string }
  | { readonly type: 'note'; readonly detail: string }
  | { readonly type: 'other' }
  | { readonly type: 'invalid' };

const MAX_ID = 256;
const OTHER = { type: 'other' } as const;

/** Reads a message; never throws. `other`: of a type that is not needed or that a later version may have. */
export function readMessage(text: string): VapiMessage {
  try {
    const message = new Fields(JSON.parse(text));
    return READERS[message.text('type')]?.(message) ?? OTHER;
  } catch {
    return { type: 'invalid' };
  }
}

const READERS: Readonly<Record<string, (message: Fields) => VapiMessage>> = {
  __proto__: null as never,
  'assistant.speechStarted': spokenOf,
  'model-output': modelOf,
  transcript: transcriptOf,
  'transcript[transcriptType="final"]': transcriptOf,
  'user-interrupted': () => ({ type: 'interrupted' }),
  'tool-calls': (message) => ({ type: 'tools', calls: message.list('toolCallList').map(toolOf) }),
  'status-update': (message) => (message.text('status') === 'ended' ? endedOf(message) : OTHER),
  'end-of-call-report': endedOf,
  hang: () => ({ type: 'note', detail: 'The platform reported that the agent hangs (hang)' }),
  'transfer-update': () => ({ type: 'note', detail: 'The platform reported a transfer (transfer-update)' }),
};

function spokenOf(message: Fields): SpokenMessage {
  const turn = message.raw('turn');
  const spoken = {
    type: 'spoken',
    turn: typeof turn === 'number' ? turn : undefined,
    text: message.text('text'),
  } as const;
  if (!message.has('timing')) return spoken;
  const timing = message.of('timing');
  if (timing.text('type') === 'word-progress') return { ...spoken, count: timing.id('wordsSpoken') };
  return timing.text('type') === 'word-alignment' ? { ...spoken, words: wordsOf(timing) } : spoken;
}

/** Entries of white space lie between the words; a word may be in several entries. */
function wordsOf(timing: Fields): SpokenWord[] {
  const [entries, starts, ends] = ['words', 'wordsStartTimesMs', 'wordsEndTimesMs'].map((name) => {
    const list = timing.raw(name);
    if (!Array.isArray(list)) throw new TypeError(`${name} is not a list`);
    return list as readonly unknown[];
  }) as [readonly unknown[], readonly unknown[], readonly unknown[]];
  const words: SpokenWord[] = [];
  const hasSpaces = entries.some((entry) => typeof entry === 'string' && /\s/.test(entry));
  let isBetween = true;
  for (const [index, entry] of entries.entries()) {
    const [startMs, endMs] = [starts[index], ends[index]];
    if (typeof entry !== 'string' || typeof startMs !== 'number' || typeof endMs !== 'number') {
      throw new TypeError('a word is none');
    }
    const last = words.at(-1);
    if (entry.trim() === '') isBetween = true;
    else {
      if (isBetween || !last) words.push({ text: entry.trim(), startMs, endMs });
      else words[words.length - 1] = { text: last.text + entry.trim(), startMs: last.startMs, endMs };
      isBetween = !hasSpaces || /\s$/.test(entry);
    }
  }
  return words;
}

/** Its output may be a tool call, which `tool-calls` has as well. */
function modelOf(message: Fields): VapiMessage {
  const output = message.raw('output');
  if (typeof output !== 'string') return OTHER;
  return { type: 'model', turnId: message.has('turnId') ? message.text('turnId', MAX_ID) : '', text: output };
}

function transcriptOf(message: Fields): VapiMessage {
  const role = message.text('role');
  const isFinal = message.text('transcriptType') === 'final';
  if (!isFinal || (role !== 'user' && role !== 'assistant')) return OTHER;
  return { type: role === 'user' ? 'heard' : 'transcript', text: message.text('transcript') };
}

function toolOf(call: Fields) {
  const run = call.of('function');
  const args = run.raw('arguments');
  // As text by the typings; the documentation shows objects, too.
  const json = typeof args === 'string' ? args : JSON.stringify(args ?? {});
  return { id: call.text('id', MAX_ID), name: run.text('name'), json };
}

function endedOf(message: Fields): VapiMessage {
  return { type: 'ended', reason: message.has('endedReason') ? message.text('endedReason') : '' };
}
