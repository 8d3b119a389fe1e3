import { fold } from '../evaluation-definition/index.js';
import type { Evidence } from './checks.js';
import { sanitizeText, truncate } from './text.js';
import type { Personality, Scenario } from './callers/persona.js';
import { CallView, type Utterance } from './call-view.js';
import type { EndEntry, TimelineEntry } from './timeline.js';

/** How the simulated caller broke its role. */
export type InvalidityCode =
  | 'caller_unusable'
  | 'no_answer'
  | 'ended_early'
  | 'invented_fact'
  | 'spoke_as_agent'
  | 'repeated_itself'
  | 'left_role';

export interface Invalidity {
  readonly code: InvalidityCode;
  /** A sentence without full stop. */
  readonly message: string;
  /** The first entry is where the caller broke its role; none if that was at the end of the call. */
  readonly evidence: readonly Evidence[];
}

export interface ValidityInput {
  readonly kind: 'scripted' | 'generated';
  readonly entries: readonly TimelineEntry[];
  /** Whether the caller hung up while the agent was still speaking or acting. */
  readonly wasAgentActing: boolean;
  readonly personality: Personality;
  readonly scenario: Scenario;
}

/**
 * Whether the caller broke its role, as far as code can decide; the judge decides the rest. A scripted caller says what
 * its author wrote, so it can only hang up too early.
 */
export function findInvalidity(input: ValidityInput): Invalidity | undefined {
  const view = CallView.of(input.entries);
  const { end } = view;
  if (end?.code === 'caller_broken') return { code: 'caller_unusable', message: end.reason, evidence: [] };
  if (end?.code === 'no_answer') return hadNoAnswer(view, end);
  if (input.wasAgentActing) {
    return { code: 'ended_early', message: 'The caller hung up while the agent was still acting', evidence: [] };
  }
  if (input.kind === 'scripted') return undefined;
  return leftQuestion(view) ?? inventedFact(view, input) ?? spokeAsAgent(view) ?? repeatedItself(view);
}

/** The evidence begins with the first of the agent's lines to which the script had no answer. */
function hadNoAnswer(view: CallView, { reason }: EndEntry): Invalidity {
  const turns = view.said('caller').filter(({ parts }) => !parts[0]?.entry.script?.repeated);
  const known = turns.findLast(({ parts }) => !parts[0]?.entry.script?.otherwise)?.turn ?? -1;
  const unknown = view.said('agent').filter(({ turn }) => turn >= known);
  return { code: 'no_answer', message: reason, evidence: unknown.map(evidenceOf) };
}

const evidenceOf = ({ parts, text }: Utterance): Evidence => ({
  entry: parts[0]?.index ?? 0,
  quote: truncate(text, 240),
});

/** Closing questions, in the most common languages. */
const CLOSING_QUESTION =
  /\b(anything|something) (else|more)\b|\belse (can|could|may) i\b|noch etwas|sonst noch|algo más|autre chose|altro\b/iu;
const HOLDS_ON =
  /\b(one|a|just a) (moment|second|minute)\b|\bhold on\b|\blet me (check|look|see|find)\b|\bbear with me\b/iu;

/** Detects hanging up on the agent's question, or while it is looking something up. */
function leftQuestion(view: CallView): Invalidity | undefined {
  if (view.end?.by !== 'caller' || view.end.code !== 'caller_done') return undefined;
  const last = view.utterances.at(-1);
  if (!last || last.speaker !== 'agent') return undefined;
  // After a goodbye the caller may hang up even if the agent asks something.
  const before = view.said('caller').at(-1);
  if (before && /\b(good ?bye|bye)\b/iu.test(before.text)) return undefined;
  const isAsking = /\?\s*$/.test(last.text) && !CLOSING_QUESTION.test(last.text);
  const isActing = HOLDS_ON.test(lastSentence(last.text));
  if (!isAsking && !isActing) return undefined;
  const what = isAsking ? "without answering the agent's question" : 'while the agent was looking something up';
  return { code: 'ended_early', message: `The caller hung up ${what}`, evidence: [evidenceOf(last)] };
}

const lastSentence = (text: string): string => text.split(/(?<=[.!?])\s+/).at(-1) ?? text;

/** Detects e-mail addresses and long numbers that neither the scenario nor the agent mentioned. */
function inventedFact(view: CallView, { personality, scenario }: ValidityInput): Invalidity | undefined {
  let known = '';
  let digits = '';
  const learn = (text = '') => {
    const folded = fold(sanitizeText(text));
    known += ` ${folded}`;
    digits += folded.replace(/\D+/g, '');
  };
  const { name, description, prompt } = personality;
  for (const text of [name, description, prompt, scenario.scenarioText, scenario.generalInstructions]) learn(text);
  for (const utterance of view.utterances) {
    if (utterance.speaker === 'agent') learn(utterance.text);
    else {
      const isKnown = (fact: string) =>
        fact.includes('@') ? known.includes(fact) : digits.includes(fact.slice(-MIN_DIGITS));
      const invented = facts(utterance.text).find((fact) => !isKnown(fact));
      if (invented !== undefined) {
        const message = `The caller stated "${truncate(invented, 60)}", which is not in its scenario`;
        return { code: 'invented_fact', message, evidence: [evidenceOf(utterance)] };
      }
    }
  }
  return undefined;
}

/** Shorter numbers may be dates, times or amounts. Only the last digits are compared, to ignore country codes. */
const MIN_DIGITS = 7;

function facts(text: string): string[] {
  const addresses = fold(text).match(/[\w.+-]+@[\w-]+\.[\w.-]*\w/g) ?? [];
  const numbers = (text.match(/\d(?:[\d\s().-]*\d)?/g) ?? []).map((number) => number.replace(/\D/g, ''));
  return [...addresses, ...numbers.filter((number) => number.length >= MIN_DIGITS)];
}

/** Shorter utterances may be equal by chance. */
const MIN_WORDS = 5;

function spokeAsAgent(view: CallView): Invalidity | undefined {
  let heard: string | undefined;
  for (const utterance of view.utterances) {
    const text = fold(utterance.text);
    if (utterance.speaker === 'agent') heard = text;
    else {
      const isEcho = text === heard && text.split(' ').length >= MIN_WORDS;
      if (isEcho || /^(agent|assistant|ai)\s*:/.test(text)) {
        return { code: 'spoke_as_agent', message: 'The caller spoke as the agent', evidence: [evidenceOf(utterance)] };
      }
    }
  }
  return undefined;
}

const LOOP = 3;

/** Detects a caller that repeats itself, unless the agent repeats itself too. */
function repeatedItself(view: CallView): Invalidity | undefined {
  const lines = view.said('caller');
  for (let index = 0; index + LOOP <= lines.length; index++) {
    const same = lines.slice(index, index + LOOP);
    if (new Set(same.map(({ text }) => fold(text))).size > 1) continue;
    const turns = same.slice(0, -1).map(({ turn }) => turn);
    const answers = view.said('agent').filter(({ turn }) => turns.includes(turn));
    if (new Set(answers.map(({ text }) => fold(text))).size < turns.length) continue;
    return {
      code: 'repeated_itself',
      message: `The caller said the same ${LOOP} times in a row to different answers`,
      evidence: same.map(evidenceOf),
    };
  }
  return undefined;
}
