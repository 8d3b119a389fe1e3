import {
  compilePattern,
  type EventMatcher,
  type SpokenMatcher,
  type ToolMatcher,
} from '../../evaluation-definition/index.js';
import { validateJson } from '../../json-schema/index.js';
import { type CallView, partAt, type Placed, type Utterance } from '../timeline/call-view.js';
import type { Evidence } from '../timeline/evidence.js';
import { matchesIn, searchLimitOf } from '../matching/matching.js';
import { truncate } from '../timeline/text.js';
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
}

/** Whether an occurrence is later than another one. @throws NotKnown when both came in one message, which has no order */
export function isAfter(a: Occurrence, b: Occurrence): boolean {
  if (a.beside === b.evidence.entry || b.beside === a.evidence.entry)
    throw new NotKnown(`Which came first is not known: ${a.text} and ${b.text} in one message`);
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

  async first(event: EventMatcher): Promise<Occurrence | undefined> {
    const found = await this.occurrences(event).next();
    return found.done ? undefined : found.value;
  }

  /**
   * All occurrences in order, each searched for when it is asked for.
   * @param isSearched whether words of this utterance count
   * @returns whether everything was searched
   */
  occurrences(
    event: EventMatcher,
    isSearched: (utterance: Utterance) => boolean = () => true,
  ): AsyncGenerator<Occurrence, boolean> {
    return 'tool' in event ? this.toolCalls(event) : this.sayings(event, isSearched);
  }

  private async *sayings(
    matcher: SpokenMatcher,
    isSearched: (utterance: Utterance) => boolean,
  ): AsyncGenerator<Occurrence, boolean> {
    const searchLimit = searchLimitOf(matcher);
    let left = SEARCH_LIMITS_PER_CALL * searchLimit;
    let isWhole = true;
    for (const utterance of this.view.utterances) {
      if (utterance.speaker !== matcher.speaker || !isSearched(utterance)) continue;
      await this.yieldToEventLoop();
      const text = utterance.text.slice(0, Math.min(searchLimit, left));
      left -= text.length;
      isWhole &&= text.length === utterance.text.length;
      for (const { position, quote } of matchesIn(matcher, text)) {
        const { part, offset } = partAt(utterance, position);
        const evidence = { entry: part.index, quote };
        yield {
          position: offset,
          evidence,
          text: `the ${matcher.speaker} said "${truncate(quote, 120)}"`,
          match: { text, position },
        };
        // The search for the next match may read the rest of the text again.
        await this.yieldToEventLoop();
        left -= text.length - position;
        if (left > 0) continue;
        isWhole = false;
        break;
      }
      left = Math.max(left, 0);
    }
    return isWhole;
  }

  private async *toolCalls(matcher: ToolMatcher): AsyncGenerator<Occurrence, boolean> {
    for (const call of this.view.toolCalls) {
      if (call.entry.name !== matcher.tool) continue;
      await this.yieldToEventLoop();
      if (misfit(matcher, call.entry) === undefined) {
        const text = `the agent called ${toolCallText(call.entry)}`;
        const beside = call.entry.isBesideWords ? this.view.wordsBefore(call.index) : undefined;
        yield { position: 0, evidence: toolEvidence(call), text, ...(beside !== undefined && { beside }) };
      }
    }
    return true;
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
  const { arguments: wanted, argumentsSchema } = matcher;
  const given = wanted || argumentsSchema ? argumentsOf(call) : null;
  if (!containsJson(wanted ?? {}, given ?? {})) return `not with ${truncate(JSON.stringify(wanted), 200)}`;
  if (!argumentsSchema) return undefined;
  const violation =
    given === null ? 'the arguments must be an object' : validateJson(argumentsSchema, given, compilePattern);
  return violation === undefined ? undefined : truncate(violation, 200);
}

export const toolEvidence = ({ index, entry }: Placed<ToolCallEntry>): Evidence => ({
  entry: index,
  quote: toolCallText(entry),
});

/** What was searched, when that was not everything. */
export function searchLimits(event: EventMatcher): string {
  const limit = 'tool' in event ? 0 : searchLimitOf(event);
  return `only the first ${limit} characters of a turn and ${SEARCH_LIMITS_PER_CALL * limit} of a call are searched`;
}
