import {
  type Backchannel,
  linesOf,
  lineText,
  type Noise,
  type ScriptStep,
} from '../../../evaluation-definition/index.js';
import type { Caller, CallerAction, CallerLine } from '../../callers/caller.js';
import { ScriptedCaller } from '../../callers/scripted.js';
import type { PreparedSound, PreparedStep } from '../facts/plan.js';
import { sentencesOf } from './sentences.js';

/** Where the caller's sounds come from: a speech engine, and sounds that are not words. */
export interface CallerSounds<Prepared extends PreparedSound = PreparedSound> {
  /** @throws if the text cannot be spoken, with `isPermanent: true` if it never can be; the signal's reason */
  synthesise(request: { readonly text: string; readonly voice: string }, signal?: AbortSignal): Promise<Prepared>;
  soundOf(name: Backchannel | Noise, voice: string): Promise<Prepared>;
}

/** The same of engines, whose sounds have rates of their own. */
export type EngineSounds = CallerSounds<EngineSound>;

/** @property rate samples per second; absent: those of the telephone */
export type EngineSound = PreparedSound & { readonly rate?: number };

export interface PreparedSteps {
  readonly steps: readonly PreparedStep[];
  /** Whether nothing follows these steps. */
  readonly isComplete: boolean;
  /** Sentences of the first step that are left to synthesise: the caller begins without them. */
  readonly rest?: readonly string[];
}

/**
 * Synthesises the sounds of a caller's actions, in their order, as far as they are known.
 * @param first its action; without it only what it does whatever the agent says
 */
export async function prepareSteps(
  caller: Pick<Caller, 'ahead'>,
  voice: string,
  sounds: CallerSounds,
  { first, signal }: { readonly first?: CallerAction; readonly signal?: AbortSignal } = {},
): Promise<PreparedSteps> {
  const steps: PreparedStep[] = [];
  const { begun, rest } = firstSentence(first);
  const more = rest.length > 0 && { rest };
  // One after the other: the engine speaks one line at a time.
  for (let action = begun ?? (await caller.ahead()); action; action = await caller.ahead()) {
    signal?.throwIfAborted();
    if (action.type !== 'hang_up') {
      steps.push(await prepareAction(action, voice, sounds, signal));
      continue;
    }
    const { code, reason, script } = action;
    const step = script?.step ?? null;
    if (code !== 'script_over') steps.push({ type: 'end', step, reason, ...(code !== 'caller_done' && { code }) });
    return { steps: open(steps, more), isComplete: true, ...more };
  }
  return { steps: open(steps, more), isComplete: false, ...more };
}

const open = (steps: readonly PreparedStep[], more: object | false): readonly PreparedStep[] =>
  more ? steps.map((step, index) => (index === 0 && step.type === 'say' ? { ...step, hasRest: true } : step)) : steps;

/** What a caller without a script says begins with its first sentence. */
function firstSentence(action: CallerAction | undefined): { begun: CallerAction | undefined; rest: readonly string[] } {
  if (action?.type !== 'speak' || action.script) return { begun: action, rest: [] };
  const [first, ...rest] = sentencesOf(lineText(action.line));
  return first === undefined ? { begun: action, rest: [] } : { begun: { ...action, line: [first] }, rest };
}

/**
 * Prepares a script that does not depend on what the agent says.
 * @throws Error for another one
 */
export async function prepareScript(
  script: readonly ScriptStep[],
  voice: string,
  sounds: CallerSounds,
  signal?: AbortSignal,
): Promise<readonly PreparedStep[]> {
  const caller = new ScriptedCaller(script, () => Promise.resolve());
  const { steps, isComplete } = await prepareSteps(caller, voice, sounds, signal && { signal });
  if (!isComplete) throw new Error(`script[${steps.length}] depends on the words of the agent`);
  return steps;
}

type Action = Exclude<CallerAction, { type: 'hang_up' }>;

async function prepareAction(
  action: Action,
  voice: string,
  sounds: CallerSounds,
  signal: AbortSignal | undefined,
): Promise<PreparedStep> {
  const step = action.script?.step ?? null;
  switch (action.type) {
    case 'speak': {
      const { line, script: { answers, otherwise } = {}, bargeIn } = action;
      const source = { ...(answers && { answers }), ...(otherwise && { otherwise }) };
      return {
        type: 'say',
        step,
        ...((answers || otherwise) && { source }),
        text: lineText(line),
        parts: await prepareLine(line, voice, sounds, signal),
        ...(bargeIn && { bargeIn: { afterMs: bargeIn.afterMs } }),
      };
    }
    case 'wait':
      return { type: 'wait', step: action.script.step, ms: action.ms };
    case 'sound': {
      const { kind, name, afterMs, script } = action;
      if (kind === 'keys') return { type: 'press', step: script.step, keys: name };
      return {
        type: kind,
        step: script.step,
        name,
        sound: await sounds.soundOf(name as Backchannel | Noise, voice),
        ...(afterMs !== undefined && { afterMs }),
      };
    }
  }
}

async function prepareLine(
  line: CallerLine,
  voice: string,
  sounds: CallerSounds,
  signal: AbortSignal | undefined,
): Promise<(PreparedSound | { readonly pauseMs: number })[]> {
  const parts: (PreparedSound | { readonly pauseMs: number })[] = [];
  for (const part of line) {
    parts.push(
      typeof part === 'string' ? await sounds.synthesise({ text: part, voice }, signal) : { pauseMs: part.pauseMs },
    );
  }
  return parts;
}

/** Keeps what was synthesised, so that a line that is said later is ready. */
export function remembered(sounds: CallerSounds): CallerSounds {
  const kept = new Map<string, Promise<PreparedSound>>();
  return {
    soundOf: (name, voice) => sounds.soundOf(name, voice),
    synthesise: ({ text, voice }, signal) => {
      const key = JSON.stringify([voice, text]);
      let made = kept.get(key);
      if (!made) {
        made = sounds.synthesise({ text, voice }, signal);
        kept.set(key, made);
        made.catch(() => kept.delete(key));
      }
      return made;
    },
  };
}

/** Synthesises the lines of a script that the caller may say, depending on the agent's words. */
export async function prepareAnswers(
  script: readonly ScriptStep[],
  voice: string,
  sounds: CallerSounds,
  signal: AbortSignal,
): Promise<void> {
  for (const step of script) {
    for (const line of linesOf(step))
      await prepareLine(typeof line === 'string' ? [line] : line, voice, sounds, signal);
  }
}
