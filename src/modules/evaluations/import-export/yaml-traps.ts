import { COLLECTION_STYLE, type Event, EVENT_ID, getScalarValue, SCALAR_STYLE } from 'js-yaml';
import type { Violation } from '../../../../libs/evaluation-definition/index.js';

/** An object or list that is being read, and at which of its values. */
interface Open {
  readonly isMapping: boolean;
  readonly isFlow: boolean;
  step: string | number;
  /** Where the name of a value ends; undefined before it is read. */
  nameEnd?: number | undefined;
  /** Whether a list begins with an unquoted capital. */
  isSentence: boolean;
}

/** Fields whose texts may contain a number sign. */
const TEXTS: ReadonlySet<unknown> = new Set([
  ...['say', 'otherwise', 'end', 'caller', 'agent', 'text', 'criterion', 'scenarioText', 'generalInstructions'],
]);
/** Fields with names of the author, of which none is unknown. */
const DATA: ReadonlySet<unknown> = new Set(['arguments', 'same', 'result', 'results', 'variables', 'agentVariables']);
const QUOTES = 'put the whole text in quotation marks';
const NO_VALUE = 'is a name without a value: put a text with a comma in quotation marks, and a space after a colon';
const MAX_FOUND = 1_000;

/** Unquoted texts that YAML divides at a comma, or cuts off at a number sign, so that they mean something else. */
export function yamlTraps(text: string, events: readonly Event[]): Violation[] {
  const found: Violation[] = [];
  const open: Open[] = [];
  for (const event of events) {
    if (found.length === MAX_FOUND) break;
    if (event.type === EVENT_ID.POP) {
      open.pop();
      continue;
    }
    const parent = open.at(-1);
    const isName = parent?.isMapping === true && parent.nameEnd === undefined;
    if (parent && isName) {
      parent.step = event.type === EVENT_ID.SCALAR ? getScalarValue(text, event) : '';
      parent.nameEnd = event.type === EVENT_ID.SCALAR ? event.valueEnd : -1;
    } else if (parent) {
      if (!parent.isMapping) parent.step = Number(parent.step) + 1;
      const what = event.type === EVENT_ID.SCALAR ? trapOf(text, event, open) : undefined;
      // The root is the document.
      if (what !== undefined) found.push({ path: open.slice(1).map(({ step }) => step), text: what });
      parent.nameEnd = undefined;
    }
    if (event.type === EVENT_ID.SCALAR || event.type === EVENT_ID.ALIAS) continue;
    const isFlow = 'style' in event && event.style === COLLECTION_STYLE.FLOW;
    open.push({ isMapping: event.type === EVENT_ID.MAPPING, isFlow, step: -1, isSentence: false });
  }
  return found;
}

type Scalar = Extract<Event, { readonly type: typeof EVENT_ID.SCALAR }>;

function trapOf(text: string, scalar: Scalar, open: readonly Open[]): string | undefined {
  const parent = open.at(-1)!;
  const isData = open.some(({ step }) => DATA.has(step));
  const isEmpty = scalar.valueStart < 0 || scalar.valueEnd <= scalar.valueStart;
  if (isEmpty) {
    const hasNoColon = parent.isMapping && parent.isFlow && startsAt(/\s*[,}]/y, text, parent.nameEnd ?? -1);
    return isData && hasNoColon ? NO_VALUE : undefined;
  }
  if (scalar.style !== SCALAR_STYLE.PLAIN) return undefined;
  const field = parent.isMapping ? parent.step : open.at(-2)?.step;
  const isCriterion = !parent.isMapping && field === 'criteria';
  if ((isData || isCriterion || TEXTS.has(field)) && startsAt(/[ \t]+#[^\s#]/y, text, scalar.valueEnd))
    return `ends before #, which begins a comment: ${QUOTES}`;
  if (!isCriterion || !parent.isFlow) return undefined;
  const value = getScalarValue(text, scalar);
  if (parent.step === 0) parent.isSentence = /^\p{Lu}/u.test(value);
  return parent.isSentence && /^\p{Ll}/u.test(value)
    ? `begins like the rest of the text before the comma: if it is, ${QUOTES}`
    : undefined;
}

function startsAt(pattern: RegExp, text: string, at: number): boolean {
  if (at < 0) return false;
  pattern.lastIndex = at;
  return pattern.test(text);
}
