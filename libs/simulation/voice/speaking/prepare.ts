import {
  type Backchannel,
  lineText,
  type Noise,
  type ScriptStep,
  type SpokenLine,
} from '../../../evaluation-definition/index.js';
import type { PreparedSound, PreparedStep } from '../facts/plan.js';

/** Where the caller's sounds come from: a speech engine, and sounds that are not words. */
export interface CallerSounds {
  /** @throws if the text cannot be spoken, with `isPermanent: true` if it never can be; the signal's reason */
  synthesise(request: { readonly text: string; readonly voice: string }, signal?: AbortSignal): Promise<PreparedSound>;
  soundOf(name: Backchannel | Noise, voice: string): Promise<PreparedSound>;
}

/** What the script of a voice call consists of: everything is known before the call. */
type StaticStep = Exclude<ScriptStep, { readonly answers: unknown }>;

/**
 * Synthesises all sounds of a script, in its order, before the call begins: nothing is synthesised while it goes on.
 *
 * @throws Error for a step that depends on the agent's words: it cannot be planned, and such scripts are refused earlier
 */
export async function prepareScript(
  steps: readonly ScriptStep[],
  voice: string,
  sounds: CallerSounds,
  signal?: AbortSignal,
): Promise<PreparedStep[]> {
  const prepared: PreparedStep[] = [];
  // One after the other: the engine speaks one line at a time.
  for (const [index, step] of steps.entries()) {
    signal?.throwIfAborted();
    prepared.push(await prepareStep(staticStep(step, index), index, voice, sounds, signal));
  }
  return prepared;
}

function staticStep(step: ScriptStep, index: number): StaticStep {
  if ('answers' in step || step.when) throw new Error(`script[${index}] depends on the words of the agent`);
  return step;
}

async function prepareStep(
  step: StaticStep,
  index: number,
  voice: string,
  sounds: CallerSounds,
  signal: AbortSignal | undefined,
): Promise<PreparedStep> {
  if ('say' in step) {
    const parts = await prepareLine(step.say, voice, sounds, signal);
    return { type: 'say', step: index, ...parts, ...(step.bargeIn && { bargeIn: { afterMs: step.bargeIn.afterMs } }) };
  }
  if ('press' in step) return { type: 'press', step: index, keys: step.press };
  if ('waitSeconds' in step) return { type: 'wait', step: index, ms: step.waitSeconds * 1_000 };
  if ('end' in step) return { type: 'end', step: index, reason: step.end };
  const [type, name] =
    'backchannel' in step ? (['backchannel', step.backchannel] as const) : (['noise', step.noise] as const);
  return {
    type,
    step: index,
    name,
    sound: await sounds.soundOf(name, voice),
    ...(step.afterMs !== undefined && { afterMs: step.afterMs }),
  };
}

async function prepareLine(
  line: SpokenLine,
  voice: string,
  sounds: CallerSounds,
  signal: AbortSignal | undefined,
): Promise<Pick<Extract<PreparedStep, { type: 'say' }>, 'text' | 'parts'>> {
  const parts: (PreparedSound | { readonly pauseMs: number })[] = [];
  for (const part of typeof line === 'string' ? [line] : line) {
    parts.push(
      typeof part === 'string' ? await sounds.synthesise({ text: part, voice }, signal) : { pauseMs: part.pauseMs },
    );
  }
  return { text: lineText(line), parts };
}
