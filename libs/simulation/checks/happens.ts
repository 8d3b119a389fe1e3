import {
  ANY_TOOL,
  type EventMatcher,
  exceptText,
  isProhibition,
  quoteOf,
  type SaysSpec,
  type ToolSpec,
} from '../../evaluation-definition/index.js';
import { capital } from '../../text/index.js';
import type { CallView, Utterance } from '../timeline/call-view.js';
import { firstUnknown, withUnknownWords } from '../timeline/known-words.js';
import { truncate } from '../timeline/text.js';
import { toolCallText } from '../timeline/tool-call-text.js';
import { type Finding, settledBy, undecided } from './check-result.js';
import type { Leaves } from './kind.js';
import { type EventFinder, isAfter, misfit, type Occurrence, toolEvidence } from './occurrences.js';

type Spec = SaysSpec | ToolSpec;

export const HAPPENS = {
  says: { evaluate: happens, couldChange },
  never_says: { evaluate: neverHappens, couldChange },
  calls_tool: { evaluate: happens, couldChange },
  never_calls_tool: { evaluate: neverHappens, couldChange },
} satisfies Pick<Leaves, Spec['type']>;

/** What was found of an event where it counts. */
interface Findings {
  /** At most one more than matter. */
  readonly occurrences: readonly Occurrence[];
  /** Words that were not searched and could change the result. */
  readonly unsearched?: Occurrence | undefined;
  readonly min: number;
  readonly max: number;
  readonly after?: Occurrence | undefined;
  readonly before?: Occurrence | undefined;
}

/** Whether an event happens where and as often as it should. */
async function happens(spec: Spec, finder: EventFinder): Promise<Finding> {
  const found = await collect(spec, finder);
  const missing = missingAnchor(spec, found);
  if (missing !== undefined) return { met: false, detail: missing, evidence: [] };
  const { occurrences, min, max, before, unsearched } = found;
  const isTooOften = occurrences.length > max;
  const met = occurrences.length >= min && !isTooOften;
  const { detail, evidence } = shown(spec, found, finder.view);
  const finding = { met, detail: `${detail}${met ? '' : saidInstead(spec, found, finder.view)}`, evidence };
  if (unsearched) return notSearched(finding, unsearched);
  if (!isAgents(spec)) return finding;
  if (isTooOften || (met && max === Infinity && min > 0)) return settledByLast(finding, found, spec);
  if (met) return finding;
  return settledBy(finding, before?.evidence.entry ?? afterTurn(spec, finder.view));
}

/** Whether an event never happens where it counts, or fewer than `times.min` times. */
async function neverHappens(spec: Spec, finder: EventFinder): Promise<Finding> {
  const found = await collect(spec, finder);
  const met = found.occurrences.length < found.min;
  const missing = spec.after && !found.after ? `${never(spec.after)}, so nothing counts` : undefined;
  const { detail, evidence } = shown(spec, found, finder.view);
  // A call with other arguments is not evidence that the tool was never called with these.
  const finding = { met, detail: missing ?? detail, evidence: met ? [] : evidence };
  if (found.unsearched) return notSearched(finding, found.unsearched);
  // What the caller says is not decided against the agent.
  if (!isAgents(spec)) return finding;
  return met ? settledBy(finding, found.before?.evidence.entry) : settledByLast(finding, found, spec);
}

const notSearched = ({ detail, evidence }: Finding, { text }: Occurrence): Finding =>
  undecided(`${detail}. ${text}`, evidence);

const isAgents = (spec: Spec): boolean => 'tool' in spec || spec.speaker === 'agent';

function settledByLast(finding: Finding, { occurrences }: Findings, spec: Spec): Finding {
  return spec.turn === 'last' ? finding : settledBy(finding, occurrences.at(-1)?.evidence.entry);
}

async function collect(spec: Spec, finder: EventFinder): Promise<Findings> {
  const { min = 1, max = Infinity } = spec.times ?? {};
  const after = spec.after && (await finder.first(spec.after));
  const before = spec.before && (await finder.first(spec.before));
  const frame = { min, max, after, before };
  if (spec.after && !after) return { ...frame, occurrences: [] };
  const enough = max === Infinity ? Math.max(min, 1) : max + 1;
  const occurrences: Occurrence[] = [];
  let unsearched: Occurrence | undefined;
  for await (const occurrence of finder.occurrences(spec, inTurn(spec, finder.view))) {
    if (before && !isAfter(before, occurrence)) break;
    if (occurrence.isUnsearched) unsearched ??= occurrence;
    else if (!after || isAfter(occurrence, after)) occurrences.push(occurrence);
    if (occurrences.length === enough) return { ...frame, occurrences };
  }
  return { ...frame, occurrences, unsearched };
}

function inTurn(spec: Spec, view: CallView): ((utterance: Utterance) => boolean) | undefined {
  const { turn } = spec;
  if ('tool' in spec || turn === undefined) return undefined;
  if (typeof turn === 'number') return (utterance) => utterance.turn === turn;
  const chosen = view.said(spec.speaker).at(turn === 'first' ? 0 : -1);
  return (utterance) => utterance === chosen;
}

/** The first entry after the turn in which something should have been said. */
function afterTurn(spec: Spec, view: CallView): number | undefined {
  const { turn: selected } = spec;
  if (selected === undefined || selected === 'last') return undefined;
  const turn = typeof selected === 'number' ? selected : view.said('tool' in spec ? 'agent' : spec.speaker)[0]?.turn;
  const entry = turn === undefined ? -1 : view.entries.findIndex((each) => each.type === 'speech' && each.turn > turn);
  return entry === -1 ? undefined : entry;
}

/** Why an event cannot have happened where it should. */
function missingAnchor({ after, before }: Spec, found: Findings): string | undefined {
  if (after && !found.after) return `${never(after)}, so nothing came after it`;
  return before && !found.before ? `${never(before)}, so nothing came before it` : undefined;
}

/** A sentence: the event did not happen at all. */
export function never(event: EventMatcher): string {
  if (!('tool' in event)) return `The ${event.speaker} never said ${quoteOf(event)}`;
  const isAny = !event.arguments && !event.argumentsSchema;
  return `The agent never called ${event.tool}${isAny ? '' : ' with such arguments'}`;
}

/** What was found, in words and with evidence. */
function shown(spec: Spec, found: Findings, view: CallView): Pick<Finding, 'detail' | 'evidence'> {
  const { occurrences, min, max } = found;
  const where = placeText(spec, found);
  if (occurrences.length === 0) return absence(spec, where, view);
  const evidence = occurrences.slice(-5).map((each) => each.evidence);
  const isCounted = spec.times !== undefined || occurrences.length < min;
  if (!isCounted) return { detail: capital(`${occurrences[0]!.text}${where}`), evidence: [evidence[0]!] };
  const times = occurrences.length === 1 ? 'once' : `${occurrences.length} times`;
  // The search stops when more could not change the result.
  const isLowerBound = occurrences.length > max || (max === Infinity && occurrences.length >= min);
  const last = occurrences.at(-1)!.text;
  const often = `${isLowerBound ? 'at least ' : ''}${times}`;
  return { detail: capital(`${last}${where}, ${often} in all; ${limitsText(min, max)}`), evidence };
}

export const limitsText = (min: number, max: number): string =>
  max === Infinity ? `the limit is ${min}` : `the limits are ${min} and ${max}`;

function absence(spec: Spec, where: string, view: CallView): Pick<Finding, 'detail' | 'evidence'> {
  if ('tool' in spec) return { ...noFittingCall(spec, where, view) };
  return { detail: `The ${spec.speaker} never said ${quoteOf(spec)}${where}`, evidence: [] };
}

/**
 * What was said where words are missing, as `, but "We close at ten"`; empty if they could be anywhere in a call of more than
 * a few utterances, none of which is the place.
 */
function saidInstead(spec: Spec, { occurrences, after, before }: Findings, view: CallView): string {
  const isAnywhere = spec.turn === undefined && !after && !before && !view.part;
  if ('tool' in spec || occurrences.length > 0) return '';
  const isChosen = inTurn(spec, view) ?? (() => true);
  const said = view.said(spec.speaker).filter((utterance) => {
    const [first, last] = [utterance.parts[0]!, utterance.parts.at(-1)!];
    const isPlaced =
      (!after || last.index >= after.evidence.entry) && (!before || first.index <= before.evidence.entry);
    return isPlaced && isChosen(utterance) && utterance.text.trim() !== '';
  });
  const quotes = said.slice(0, MAX_SAID).map(({ text }) => `"${truncate(text.trim(), MAX_QUOTE)}"`);
  if (quotes.length === 0 || (isAnywhere && said.length > MAX_SAID)) return '';
  return `, but ${quotes.join(', ')}${said.length > MAX_SAID ? ` and ${said.length - MAX_SAID} more` : ''}`;
}

/** Of what was said in place of words that are missing: the number of utterances, and the length of each. */
const MAX_SAID = 3;
const MAX_QUOTE = 200;

function noFittingCall(spec: ToolSpec, where: string, view: CallView): Pick<Finding, 'detail' | 'evidence'> {
  if (spec.tool === ANY_TOOL) return { detail: `The agent called no tool${exceptText(spec)}${where}`, evidence: [] };
  const calls = view.toolCalls.filter(({ entry }) => entry.name === spec.tool);
  const misfits = calls.map(({ entry }) => misfit(spec, entry));
  const reason = misfits.findLast((each) => each !== undefined);
  if (calls.length === 0 || reason === undefined) {
    return { detail: `The agent never called ${spec.tool}${where}`, evidence: [] };
  }
  const got = calls.map(({ entry }) => toolCallText(entry)).join(', ');
  const why = reason.startsWith('not with') ? reason : `but ${reason}`;
  return {
    detail: `The agent called ${truncate(got, 400)}, ${why}${where}`,
    evidence: calls.slice(0, 5).map(toolEvidence),
  };
}

/** Where it counts: ` in turn 2, after the caller said "…"`. */
function placeText({ turn }: Spec, { after, before }: Findings): string {
  const where = turn === undefined ? '' : typeof turn === 'number' ? ` in turn ${turn}` : ` in the ${turn} turn`;
  return `${where}${after ? ` after ${after.text}` : ''}${before ? ` before ${before.text}` : ''}`;
}

/** More words of the agent can only be more of the event, unless its place depends on them. */
async function couldChange(check: Spec, { met }: Finding, finder: EventFinder): Promise<boolean> {
  const { after, before, times } = check;
  const isPlaced = (await isOpen(after, finder)) || (await isOpen(before, finder));
  if ('tool' in check || check.speaker === 'caller') {
    if (!isPlaced) return false;
    // Their number is known, wherever they count.
    const { after: _after, before: _before, ...anywhere } = check;
    const none = await neverHappens({ ...anywhere, times: { min: times?.min ?? 1 } }, finder);
    return none.met !== true || met !== isProhibition(check);
  }
  if (isPlaced) return true;
  if (!isInUnknownTurn(check, finder)) return false;
  if (isProhibition(check)) return met === true;
  if (times?.max === undefined) return met !== true;
  if (met) return true;
  return (await happens({ ...check, times: { min: times.max + 1 } }, finder)).met !== true;
}

/** Whether words that are not known could be the first time of an event. */
async function isOpen(event: EventMatcher | undefined, finder: EventFinder): Promise<boolean> {
  if (!event || 'tool' in event || event.speaker === 'caller') return false;
  const found = await finder.first(event);
  return found === undefined || found.evidence.entry >= firstUnknown(finder.view);
}

/** Whether a turn in which the words count has some that are not known. */
function isInUnknownTurn({ turn }: SaysSpec, { view }: EventFinder): boolean {
  if (turn === undefined) return true;
  const said = view.said('agent');
  const chosen = turn === 'first' ? said[0]?.turn : turn === 'last' ? said.at(-1)?.turn : turn;
  return withUnknownWords(view).some(({ entry }) => entry.turn === chosen);
}
