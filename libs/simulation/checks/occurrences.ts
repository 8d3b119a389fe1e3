import {
  ANY_TOOL,
  compilePattern,
  type EventMatcher,
  quoteOf,
  type SpokenMatcher,
  type ToolMatcher,
  type ToolSpec,
} from '../../evaluation-definition/index.js';
import { validateJson } from '../../json-schema/index.js';
import { type CallView, partAt, type Placed, type Utterance } from '../timeline/call-view.js';
import type { Evidence } from '../timeline/evidence.js';
import { matchesIn, searchLimitOf } from '../matching/matching.js';
import { parseArguments, truncate } from '../timeline/text.js';
import type { ToolCallEntry } from '../timeline/timeline.js';
import { toolCallText } from '../timeline/tool-call-text.js';
import type { YieldToEventLoop } from '../time/yield-to-event-loop.js';
import { containsJson } from '../matching/contains-json.js';

/** One time that an event happened. */
export interface Occurrence {
  /** Position in the entry of the evidence, for the order of what happens in one entry. */
  readonly position: number;
  readonly evidence: Evidence;
  /** A clause: `the agent said "…"`. */
  readonly text: string;
  /** Where words were found in what the side said in this turn. */
  readonly match?: { readonly text: string; readonly position: number };
  /** Of a tool call, the entry of the words with which it came in one message. */
  readonly beside?: number;
  /** Present for words that were not searched, from here to the end of the turn: the event may stand in them. */
  readonly isUnsearched?: true;
}

/** @throws NotKnown instead of words that were not searched */
export function known<T extends Occurrence | undefined>(found: T): T {
  if (found?.isUnsearched) throw new NotKnown(found.text);
  return found;
}

/** Whether an occurrence is later than another one. @throws NotKnown when both came in one message, which has no order */
export function isAfter(a: Occurrence, b: Occurrence): boolean {
  if (a.beside === b.evidence.entry || b.beside === a.evidence.entry)
    throw new NotKnown(
      `Which came first is not known: ${a.text} and ${b.text} in one message: let the agent stream one after the other, or leave the order out of the check`,
    );
  return isLater(a, b);
}

const isLater = (a: Occurrence, b: Occurrence): boolean =>
  a.evidence.entry - b.evidence.entry > 0 || (a.evidence.entry === b.evidence.entry && a.position > b.position);

/** Search limit for a whole call, as a multiple of the limit per turn; keeps a check from taking minutes. */
const SEARCH_LIMITS_PER_CALL = 10;

/** Finds events on a timeline. Searching is limited in characters, so that the same call gets the same result everywhere. */
export class EventFinder {
  constructor(
    readonly view: CallView,
    readonly yieldToEventLoop: YieldToEventLoop,
  ) {}

  /** @throws NotKnown */
  async first(event: EventMatcher): Promise<Occurrence | undefined> {
    const found = await this.occurrences(event).next();
    return found.done ? undefined : known(found.value);
  }

  /**
   * All occurrences in order, each searched for when it is asked for, and words that are not searched.
   * @param isSearched whether words of this utterance count
   */
  occurrences(
    event: EventMatcher,
    isSearched: (utterance: Utterance) => boolean = () => true,
  ): AsyncGenerator<Occurrence, undefined> {
    return 'tool' in event ? this.toolCalls(event) : this.sayings(event, isSearched);
  }

  private async *sayings(
    matcher: SpokenMatcher,
    isSearched: (utterance: Utterance) => boolean,
  ): AsyncGenerator<Occurrence, undefined> {
    const searchLimit = searchLimitOf(matcher);
    let left = SEARCH_LIMITS_PER_CALL * searchLimit;
    for (const utterance of this.view.utterances) {
      if (utterance.speaker !== matcher.speaker || !isSearched(utterance)) continue;
      await this.yieldToEventLoop();
      const text = utterance.text.slice(0, Math.min(searchLimit, left));
      left -= text.length;
      let searched = text.length;
      for (const { position, end, quote } of matchesIn(matcher, text)) {
        // What follows decides whether a match at the end is one, and how long it is.
        if (end === text.length && end < utterance.text.length) {
          searched = position;
          break;
        }
        const said = `the ${matcher.speaker} said "${truncate(quote, 120)}"`;
        yield { ...occurrenceAt(utterance, position, quote), text: said, match: { text, position } };
        // The search for the next match may read the rest of the text again.
        await this.yieldToEventLoop();
        left -= text.length - position;
        if (left > 0) continue;
        searched = end;
        break;
      }
      left = Math.max(left, 0);
      if (searched === utterance.text.length) continue;
      const limits = `${searchLimit} characters of a turn and ${SEARCH_LIMITS_PER_CALL * searchLimit} of a call`;
      const limited = `Only the first ${limits} are searched for ${quoteOf(matcher)}`;
      yield { ...occurrenceAt(utterance, searched, ''), text: limited, isUnsearched: true };
    }
  }

  /** @throws NotKnown at the end, if there may be further ones */
  private async *toolCalls(matcher: ToolMatcher): AsyncGenerator<Occurrence, undefined> {
    for (const call of this.view.toolCalls) {
      const { except = [] } = matcher as Partial<Pick<ToolSpec, 'except'>>;
      const { name } = call.entry;
      if (matcher.tool === ANY_TOOL ? except.includes(name) : name !== matcher.tool) continue;
      await this.yieldToEventLoop();
      if (misfit(matcher, call.entry) === undefined) {
        const text = `the agent called ${toolCallText(call.entry)}`;
        const beside = call.entry.isBesideWords ? this.view.wordsBefore(call.index) : undefined;
        yield { position: 0, evidence: toolEvidence(call), text, ...(beside !== undefined && { beside }) };
      }
    }
    if (this.view.unknownTools != null) throw new NotKnown(this.view.unknownTools);
  }
}

/** What a check asks for is not known: it is undecided. */
export class NotKnown extends Error {
  override readonly name = 'NotKnown';
}

/** The arguments of a tool call; null for what is not a JSON object. @throws NotKnown */
export function argumentsOf({ name, arguments: given, rawArguments }: ToolCallEntry): ToolCallEntry['arguments'] {
  if (given !== null || rawArguments !== undefined) return given;
  throw new NotKnown(`The platform runs ${name} itself, and does not tell with which arguments`);
}

/** What a matcher finds wrong with the arguments of a call of its tool. @throws TooManySteps, NotKnown */
export function misfit(matcher: ToolMatcher, call: ToolCallEntry): string | undefined {
  const given = matcher.arguments || matcher.argumentsSchema ? argumentsOf(call) : null;
  const found = misfitOf(matcher, given);
  // A backend may have reported them in another form than the agent sent: either may be meant.
  const sent = found !== undefined && given && call.rawArguments ? parseArguments(call.rawArguments) : null;
  return sent && misfitOf(matcher, sent) === undefined ? undefined : found;
}

function misfitOf(
  { arguments: wanted, argumentsSchema }: ToolMatcher,
  given: ToolCallEntry['arguments'],
): string | undefined {
  if (!containsJson(wanted ?? {}, given ?? {})) return `not with ${truncate(JSON.stringify(wanted), 200)}`;
  if (!argumentsSchema) return undefined;
  const violation =
    given === null ? 'the arguments must be an object' : validateJson(argumentsSchema, given, compilePattern);
  return violation === undefined ? undefined : truncate(violation, 200);
}

function occurrenceAt(utterance: Utterance, at: number, quote: string): Pick<Occurrence, 'position' | 'evidence'> {
  const { part, offset } = partAt(utterance, at);
  return { position: offset, evidence: { entry: part.index, quote } };
}

export const toolEvidence = ({ index, entry }: Placed<ToolCallEntry>): Evidence => ({
  entry: index,
  quote: toolCallText(entry),
});
