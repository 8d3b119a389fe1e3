import { actsOf, type Check, type ScriptStep, withNested } from '../../evaluation-definition/index.js';
import type { CallView } from '../timeline/call-view.js';
import { truncate } from '../timeline/text.js';
import { END_CODES } from '../timeline/end-codes.js';
import type { TimelineEntry } from '../timeline/timeline.js';
import { HANG_UP_TOOLS } from '../transports/text/hang-up.js';

export interface ExerciseInput {
  /** Empty for a generated caller. */
  readonly script: readonly ScriptStep[];
  readonly checks: readonly Check[];
  readonly view: CallView;
  /** Present for a voice call. */
  readonly sound?: {
    /** When the stream began, in milliseconds from the answer. */
    readonly streamStartMs: number;
    /** Whether the agent sent sound, all of it too quiet to be heard. */
    readonly inaudible: boolean;
  };
}

/**
 * Why a call tested nothing, so that it cannot pass, as a sentence without full stop that begins with what the agent did.
 * Undefined if the caller carried out the first `say`, `answers` or `press` of its script, if it has one, and the agent spoke,
 * called a tool, or transferred the call or hung up where a check is about that.
 */
export function unexercised(input: ExerciseInput): string | undefined {
  const missing = wasScriptBegun(input) ? undefined : whatWasMissing(input);
  if (missing !== undefined) return `${whatAgentDid(input)}: ${missing}`;
  return hasAgentActed(input) ? undefined : `${whatAgentDid(input)}: nothing was tested`;
}

const isAct = (step: ScriptStep): boolean => 'say' in step || 'answers' in step || 'press' in step;

/** The first act of the script before its end; undefined if it has none. */
function firstAct({ script, view }: ExerciseInput): ScriptStep | undefined {
  // A real caller follows no script.
  if (view.end?.recorded?.isProduction) return undefined;
  const isConditionalEndTaken = view.end?.code === 'caller_done';
  const end = script.findIndex((step) => 'end' in step && (!step.when || isConditionalEndTaken));
  return script.slice(0, end === -1 ? script.length : end).find(isAct);
}

/** A first step that is skipped by its condition leaves it to the next one. */
const wasScriptBegun = (input: ExerciseInput): boolean =>
  firstAct(input) === undefined || input.view.entries.some((entry) => isCompleteAct(entry, input.view));

/** What the end of the call cut off was not carried out. */
function isCompleteAct(entry: TimelineEntry, { end }: CallView): boolean {
  if (entry.type === 'speech') return entry.speaker === 'caller' && !entry.cut;
  return entry.type === 'sound' && entry.kind === 'keys' && entry.possible && entry.end < (end?.start ?? Infinity);
}

function whatWasMissing(input: ExerciseInput): string {
  const wereKeys = 'press' in firstAct(input)!;
  const wasBegun = input.view.entries.some(
    (entry) =>
      (entry.type === 'speech' && entry.speaker === 'caller') ||
      (entry.type === 'sound' && entry.kind === 'keys' && entry.possible),
  );
  if (wereKeys) return `the caller had not pressed ${wasBegun ? 'all of ' : ''}its first keys`;
  return wasBegun ? 'the caller had not finished its first line' : 'the caller had not said its first line';
}

function hasAgentActed({ view, checks }: ExerciseInput): boolean {
  if (view.said('agent').length > 0 || toolsOf(view).length > 0) return true;
  const acts = new Set(checks.flatMap((each) => withNested(each)).flatMap(({ check }) => actsOf(check)));
  const hasTransferred = view.entries.some((entry) => entry.type === 'platform' && entry.event === 'transfer');
  return (hasTransferred && acts.has('transfer')) || (view.end?.by === 'agent' && acts.has('hangUp'));
}

/** A call of the tool that hangs up is the hang-up. */
const toolsOf = ({ toolCalls }: CallView) => toolCalls.filter(({ entry }) => !HANG_UP_TOOLS.has(entry.name));

function whatAgentDid({ view, sound }: ExerciseInput): string {
  const { end } = view;
  const acts = sound ? heardOf(view, sound.inaudible) : saidOf(view);
  if (end?.by === 'agent') {
    const left = sound ? 'closed the stream' : 'hung up';
    const after = seconds(end.start - (sound?.streamStartMs ?? 0));
    const said = view.said('agent').length > 0 || toolsOf(view).length > 0 ? `${acts} and` : 'The agent';
    return `${said} ${left} ${after} after ${sound ? 'it' : 'the call'} began`;
  }
  return end ? `${acts}, and ${END_CODES[end.code]}` : acts;
}

function heardOf(view: CallView, inaudible: boolean): string {
  const parts = view.said('agent').flatMap((utterance) => utterance.parts);
  const ms = parts.reduce((sum, { entry }) => sum + entry.end - entry.start, 0);
  if (ms > 0) return `The agent was heard for ${seconds(ms)}`;
  return inaudible ? 'The agent sent sound that is too quiet to be heard' : 'The agent was not heard';
}

function saidOf(view: CallView): string {
  const [first] = view.said('agent');
  if (first) return `The agent said "${truncate(first.text, 120)}"`;
  const [tool] = toolsOf(view);
  return tool ? `The agent called ${truncate(tool.entry.name, 120)}` : 'The agent said nothing';
}

const seconds = (ms: number): string => `${(Math.max(0, ms) / 1_000).toFixed(1)} s`;
