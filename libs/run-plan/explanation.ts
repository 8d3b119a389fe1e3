import {
  type Condition,
  describeCheck,
  type HistoryLine,
  historyOf,
  type LineConditions,
  lineText,
  type Matcher,
  type ScriptStep,
  type SpokenLine,
} from '../evaluation-definition/index.js';
import { historySide, historyText } from '../simulation/index.js';
import { capital, clipped, count, oneLine } from '../text/index.js';
import { datesText } from './dates-text.js';
import type { PlannedEvaluation } from './planned-evaluation.js';
import { toolResultsText } from './tool-results-text.js';

/** Steps of a script that are described; the rest is only counted. */
const MAX_STEPS = 20;
const MAX_TEXT = 120;

/** What the calls of an evaluation do and ask, one sentence each: the caller, the results of tools, every check, every criterion, the limits. */
export function explanationOf({ snapshot, cases }: PlannedEvaluation): string[] {
  const { script, toolResults, checks, criteria, conditions, maxTurns, maxDurationSeconds } = snapshot.definition;
  return [
    ...historyLines(historyOf(snapshot.definition)),
    ...(script.length > 0 ? scripted(script) : [`A language model plays the caller "${snapshot.personality.name}".`]),
    ...toolResultsText(toolResults),
    ...checks.map((check) => {
      const plain = describeCheck(check);
      const { name = plain } = check;
      const isSaid = name.toLowerCase().endsWith(plain.toLowerCase());
      return sentence(`${kind(isSaid ? 'check' : `check "${name}"`, check.required)}: ${isSaid ? name : plain}`);
    }),
    ...criteria.map(({ text, turn, required }) => {
      const about = turn === undefined ? '' : ` about turn ${turn}`;
      return sentence(`${kind(`criterion for the judge${about}`, required)}: ${quoted(text)}`);
    }),
    ...conditionsText(conditions),
    ...datesText({ snapshot, cases }),
    `The call is cut off after ${count(maxTurns, 'turn')} or ${count(maxDurationSeconds, 'second')}.`,
  ];
}

function historyLines(history: readonly HistoryLine[]): string[] {
  const more = history.length - MAX_STEPS;
  const lines = history
    .slice(0, MAX_STEPS)
    .map((line) => sentence(`before the call, ${historySide(line)}: ${quoted(historyText(line))}`));
  return more > 0 ? [...lines, `The history has ${count(more, 'more line')}.`] : lines;
}

/** Conditions of the line on voice calls, as at most one sentence. */
function conditionsText(conditions: LineConditions): string[] {
  const { noise, gainDb, echoDb, packetLossPercent, jitterMs, band } = conditions;
  const parts = [
    ...(noise ? [`${noise.type} noise ${noise.snrDb} dB below the caller`] : []),
    ...(gainDb === undefined ? [] : [`a gain of ${gainDb} dB`]),
    ...(echoDb === undefined ? [] : [`an echo of ${echoDb} dB`]),
    ...(packetLossPercent === undefined ? [] : [`${packetLossPercent} % packet loss`]),
    ...(jitterMs === undefined ? [] : [`${jitterMs} ms of jitter`]),
    ...(band === undefined ? [] : [`${band} band`]),
  ];
  return parts.length === 0 ? [] : [`On voice calls the line has ${parts.join(', ')}.`];
}

const kind = (what: string, required: boolean): string => (required ? what : `${what}, which only lowers the score`);

function scripted(script: readonly ScriptStep[]): string[] {
  const more = script.length - MAX_STEPS;
  const steps = script.slice(0, MAX_STEPS).map((step) => sentence(`${when(step.when)}the caller ${action(step)}`));
  return more > 0 ? [...steps, `The script has ${count(more, 'more step')}.`] : steps;
}

function action(step: ScriptStep): string {
  if ('say' in step) {
    const to = step.to ? `, or when ${conditionText(step.to)}` : '';
    return `says ${quoted(lineText(step.say))}${hesitations(step.say)}${bargeIn(step.bargeIn)}${to}`;
  }
  if ('backchannel' in step) return `says "${step.backchannel}" after hearing the agent for ${step.afterMs} ms`;
  if ('noise' in step) {
    const moment = step.afterMs === undefined ? 'in silence' : `after hearing the agent for ${step.afterMs} ms`;
    return `makes a noise (${step.noise}) ${moment}`;
  }
  if ('press' in step) return `presses ${step.press}`;
  if ('waitSeconds' in step) return `is silent for ${count(step.waitSeconds, 'second')}`;
  if ('end' in step) {
    const unless = step.unless
      ? ` unless the agent has ${step.unless}${step.unless === 'asked' ? ' something' : ''}`
      : '';
    return `hangs up${unless}: ${clipped(oneLine(step.end), MAX_TEXT)}`;
  }
  const answers = `gives ${count(step.answers.length, 'answer')} in any order`;
  if (!step.until) return answers;
  return `${answers} until ${conditionText(step.until)}, and otherwise says ${quoted(step.otherwise ?? '')}`;
}

function hesitations(line: SpokenLine): string {
  const pauses = typeof line === 'string' ? [] : line.flatMap((part) => (typeof part === 'string' ? [] : part.pauseMs));
  return pauses.length === 0 ? '' : ` and hesitates for ${pauses.join(', ')} ms`;
}

const bargeIn = (given: { readonly afterMs: number } | undefined): string =>
  given ? `, over the agent after hearing it for ${given.afterMs} ms` : '';

const when = (condition: Condition | undefined): string => (condition ? `if ${conditionText(condition)}, ` : '');

/** With a capital, and a full stop unless a quote ends with a mark. */
const sentence = (text: string): string => `${capital(text)}${/[.?!…]"$/.test(text) ? '' : '.'}`;

function conditionText({ says, notSays }: Condition): string {
  return [
    ...(says ? [`the agent said ${matcherText(says)}`] : []),
    ...(notSays ? [`the agent did not say ${matcherText(notSays)}`] : []),
  ].join(' and ');
}

const matcherText = (matcher: Matcher): string =>
  'pattern' in matcher ? `/${clipped(matcher.pattern, MAX_TEXT)}/` : quoted(matcher.text);

const quoted = (text: string): string => `"${clipped(oneLine(text), MAX_TEXT)}"`;
