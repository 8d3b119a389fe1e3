import type { Speaker } from '../../../evaluation-definition/index.js';
import { ArgumentsCount } from '../../other-side/read-limits.js';
import { CallFailure } from '../../timeline/failure.js';
import { guarded, parseArguments, sanitizeText } from '../../timeline/text.js';
import type { TranscriptEntry } from '../../voice/imported/transcript.js';
import type { PlatformApi } from '../http/platform-api.js';
import type { ListedCall, ListedCalls, ProductionCall, ProductionToolCall, RecordsWindow } from '../modules/records.js';
import { objectOf } from './fields.js';

/** An id that can be stored, and be a segment of a path. */
const ID = /^(?!\.{1,2}$)[^\p{C}]{1,256}$/u;
const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;
/** Header of our telephone calls, as platforms name it among variables: without `X-`, or with `sip_` before it. */
const MARK = /^(sip[-_])?(x[-_])?vat[-_]call$/i;
/** As many as the transcript of an imported call can have. */
const MAX_ENTRIES = 10_000;
const MAX_KINDS = 12;
const MAX_VALUES = 1_000;
/** Requests for one list beside three times those of a whole one, and the shortest window in milliseconds that is halved. */
const MAX_FURTHER = 60;
const MIN_WINDOW_MS = 1;

/** A number, also as digits; undefined for what is none. */
export function figureOf(value: unknown): number | undefined {
  const figure = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof figure === 'number' && Number.isFinite(figure) ? figure : undefined;
}

/** Unix milliseconds of a date as text; undefined for what is none. */
export function dateOf(value: unknown): number | undefined {
  return typeof value === 'string' ? figureOf(Date.parse(value)) : undefined;
}

export const idOf = (value: unknown): string | undefined =>
  typeof value === 'string' && ID.test(value) && value.isWellFormed() ? value : undefined;

const scaled = (value: unknown, unit: number): number | undefined => {
  const figure = figureOf(value);
  return figure === undefined ? undefined : figure * unit;
};

/** Milliseconds of a figure in seconds. */
export const secondsOf = (value: unknown): number | undefined => scaled(value, 1_000);

/** Id of the attempt that a call of this service carries in its metadata, variables or headers. */
export function attemptIn(...places: readonly unknown[]): string | null {
  const marks = places.flatMap((place) =>
    typeof place === 'string'
      ? [place.startsWith('vat:') ? place.slice(4) : '']
      : Object.entries(objectOf(place)).flatMap(([name, value]) => (MARK.test(name) ? [value] : [])),
  );
  const mark = marks.find((value): value is string => typeof value === 'string' && UUID.test(value));
  return mark?.toLowerCase() ?? null;
}

/** The latencies of a platform, in milliseconds. @param unit of its figures, in milliseconds */
export function latenciesOf(kinds: readonly (readonly [name: string, values: readonly unknown[]])[], unit = 1) {
  const found = kinds.slice(0, MAX_KINDS).map(([name, values]) => {
    const figures = values.slice(0, MAX_VALUES).map((value) => scaled(value, unit));
    return [sanitizeText(name.slice(0, 64)), figures.filter((one) => one !== undefined && one >= 0)] as const;
  });
  return Object.fromEntries(found.filter(([, values]) => values.length > 0)) as ProductionCall['latencies'];
}

type Times = { readonly startMs: number | undefined; readonly endMs?: number | undefined };

/** What a record says of a conversation, entry by entry in its order. A time that cannot be is moved into the call. */
export class Conversation {
  private readonly entries: TranscriptEntry[] = [];
  private readonly tools = new Map<string, ProductionToolCall>();
  /** Keys of the calls of a tool that have no result yet, by its name. */
  private readonly waiting = new Map<unknown, string[]>();
  private readonly arguments = new ArgumentsCount();
  private readonly durationMs: number;
  /** Where an entry is whose time is not known. */
  private lastMs = 0;

  constructor({ startedAt, endedAt }: Pick<ProductionCall, 'startedAt' | 'endedAt'>) {
    this.durationMs = endedAt - startedAt;
  }

  /** @param text null: nothing was said @throws TypeError for words that cannot be read */
  say(speaker: Speaker, text: unknown, times: Times): void {
    if (text === null || text === undefined) return;
    if (typeof text !== 'string') throw new TypeError('what was said is not a text');
    if (this.entries.length === MAX_ENTRIES) throw new TypeError(`the transcript has more than ${MAX_ENTRIES} entries`);
    const startMs = this.within(times.startMs);
    const endMs = Math.max(startMs, this.within(times.endMs ?? startMs));
    this.lastMs = endMs;
    if (text.trim() !== '') this.entries.push({ speaker, text: sanitizeText(text), startMs, endMs });
  }

  /** @param id a call that the record repeats counts once @throws TypeError without a name; CallFailure */
  called(name: string | null, json: string, startMs: number | undefined, id: string | null | undefined): void {
    if (name === null) throw new TypeError('a tool call has no name');
    const key = id ?? `${this.tools.size}th`;
    if (this.tools.has(key)) return;
    const what = this.arguments.push(json);
    if (what !== undefined) throw new CallFailure('answer_too_large', { what });
    const call = { name: sanitizeText(name), arguments: parseArguments(json), result: null };
    this.tools.set(key, { ...call, startMs: this.within(startMs) });
    const waiting = this.waiting.get(call.name);
    if (waiting) waiting.push(key);
    else this.waiting.set(call.name, [key]);
  }

  /** @param name by which the call is found if there is no id: the first one that has no result */
  returned(id: string | null | undefined, result: unknown, name?: unknown): void {
    const waiting = this.waiting.get(name) ?? [];
    while (waiting[0] !== undefined && this.tools.get(waiting[0])?.result !== null) waiting.shift();
    const key = id ?? waiting[0] ?? '';
    const call = this.tools.get(key);
    if (!call || result === null || result === undefined) return;
    const text = typeof result === 'string' ? result : JSON.stringify(guarded(result));
    this.tools.set(key, { ...call, result: sanitizeText(text) });
  }

  /** Nothing was said or called: a platform that keeps no words, or not yet, writes an empty list, too. */
  get isEmpty(): boolean {
    return this.entries.length === 0 && this.tools.size === 0;
  }

  /** By their times, since platforms list what was interrupted late. */
  get said(): readonly TranscriptEntry[] {
    return this.entries.toSorted((a, b) => a.startMs - b.startMs);
  }

  get toolCalls(): readonly ProductionToolCall[] {
    return [...this.tools.values()].sort((a, b) => a.startMs - b.startMs);
  }

  private within(ms: number | undefined): number {
    return Math.round(Math.min(Math.max(0, ms ?? this.lastMs), this.durationMs));
  }
}

/** Reads what a platform says of a call. @throws CallFailure `bad_response` with what is wrong with it */
export function readRecord(api: PlatformApi, id: string, read: () => ProductionCall | null): ProductionCall | null {
  try {
    const call = read();
    if (call && call.id !== id) throw new TypeError('it has the id of another call');
    return call;
  } catch (cause) {
    if (!(cause instanceof TypeError || cause instanceof RangeError)) throw cause;
    throw api.notUnderstood(`its record of the call cannot be read: ${cause.message}`, cause);
  }
}

/** What a refusal with one of these statuses means: that there is nothing. @throws any other error */
export function nullIf(...statuses: readonly number[]): (error: unknown) => null {
  return (error) => {
    if (error instanceof CallFailure && statuses.includes(error.failure.status ?? 0)) return null;
    throw error;
  };
}

/** Clocks differ so much. */
const AHEAD_MS = 24 * 60 * 60_000;

/** When a call began and ended. @throws TypeError if a time is missing, or cannot be */
export function spanOf(started: number | undefined, ended: number | undefined) {
  const [startedAt, endedAt] = [figureOf(started), figureOf(ended)];
  if (startedAt === undefined || endedAt === undefined) throw new TypeError('it has no time of its start or end');
  if (endedAt < startedAt || startedAt < 0) throw new TypeError('the call ends before it begins');
  if (endedAt > Date.now() + AHEAD_MS) throw new TypeError('the call ends in the future');
  return { startedAt, endedAt };
}

/** A page of a list. Undefined: the entry is not about a call that was answered and has ended; null: it has no id. */
export interface ListPage {
  readonly entries: readonly (ListedCall | undefined | null)[];
  /** What the next page is asked for with; null: there is none. */
  readonly next: string | null;
  /** Whether it has as many calls as a list without pages can have, all of them different and of its window. */
  readonly isFull?: boolean;
}

/**
 * Lists a window in pages, and half of it as long as it has more pages than are read at once: what was listed is complete then.
 * @param most pages @param page of a part of the window; `next` of the page before
 * @throws CallFailure for a list without an end
 */
export async function listInParts(
  api: PlatformApi,
  window: RecordsWindow,
  most: number,
  page: (part: RecordsWindow, next: string | null) => Promise<ListPage>,
): Promise<ListedCalls> {
  let parts = 0;
  for (let until = window.until; ; until = Math.floor((window.from + until) / 2)) {
    const found = new Map<string, ListedCall>();
    let malformed = 0;
    let next: string | null = null;
    let isCut = false;
    const asked = new Set<string | null>();
    for (let pages = 0; pages < most && !asked.has(next); pages++) {
      if (++parts > 3 * most + MAX_FURTHER) throw api.notUnderstood('its list of calls has no end');
      asked.add(next);
      const { entries, next: following, isFull = false } = await page({ ...window, until }, next);
      isCut = isFull;
      malformed += entries.filter((one) => one === null).length;
      for (const one of entries) if (one) found.set(one.id, one);
      if (following === null) return { items: [...found.values()], malformed, until };
      next = following;
    }
    if (until - window.from > MIN_WINDOW_MS) continue;
    if (!isCut) throw api.notUnderstood('its list of calls has no end');
    return { items: [...found.values()], malformed, until, isCut };
  }
}

/** An entry of a list. @param isOver whether the call was answered and has ended */
export function listedCall(
  id: unknown,
  endedAt: number | undefined,
  isOver: boolean,
  attemptId: string | null = null,
): ListedCall | undefined | null {
  const known = idOf(id);
  if (known === undefined) return null;
  // Others cannot be stored; what is wrong with such a time, its record says.
  const isTime = endedAt !== undefined && endedAt >= 0 && endedAt <= Date.now() + AHEAD_MS;
  return isOver ? { id: known, endedAt: isTime ? endedAt : null, attemptId } : undefined;
}

/** A text of the platform, such as why the call ended; null for none. */
export const phraseOf = (value: unknown): string | null =>
  typeof value === 'string' && value !== '' ? sanitizeText(value.slice(0, 1_000)) : null;
