import type { Path } from '../../json-input/index.js';
import type { NestedCheck, PartialDefinition } from '../definition/definition.js';
import type { ValueSource } from '../definition/events.js';
import type { HearsKeysSpec } from '../definition/voice.js';

type Found = readonly [field: Path, text: string];

/** Checks of voice calls that the script gives no occasion for, or whose limits contradict each other. */
export function voiceCheckViolations(check: NestedCheck, { script }: PartialDefinition): Found[] {
  switch (check.type) {
    case 'yields_within_ms':
      return occasion(script, (step) => 'say' in step && step.bargeIn !== undefined, 'a step with say and bargeIn');
    case 'keeps_speaking':
      return occasion(script, (step) => 'backchannel' in step || 'noise' in step, 'a step with backchannel or noise');
    case 'hears_keys':
      return [...keysViolations(check, script), ...reactionViolations(check)];
    case 'speaking_rate':
      return order(['minWpm', check.minWpm], ['maxWpm', check.maxWpm]);
    case 'audio_level':
      return order(['minDbfs', check.minDbfs], ['maxDbfs', check.maxDbfs]);
    case 'understood':
      return understoodViolations(check.values);
    default:
      return [];
  }
}

type Steps = PartialDefinition['script'];

/** @param gives whether a step gives the check something to decide */
function occasion(script: Steps, gives: (step: NonNullable<Steps[number]>) => boolean, what: string): Found[] {
  // The steps of a template are unknown until its values are inserted.
  if (script.some((step) => !step || gives(step))) return [];
  return [[[], `requires ${what} in script, or it could never be decided`]];
}

function keysViolations({ keys }: HearsKeysSpec, script: Steps): Found[] {
  if (script.includes(undefined)) return [];
  const isPressed = script.some((step) => step && 'press' in step && step.press.replaceAll('w', '') === keys);
  return isPressed ? [] : [[['keys'], 'is not what a step of the script presses, so the check could never be decided']];
}

function reactionViolations({ then }: HearsKeysSpec): Found[] {
  if (then === undefined) return [];
  if ('transfer' in then) {
    const isAny = (then.transfer as unknown) === false;
    return isAny ? [[['then', 'transfer'], 'must be true, or words of the target of the transfer']] : [];
  }
  const isCaller = 'speaker' in then && then.speaker === 'caller';
  return isCaller ? [[['then', 'speaker'], 'must be agent: the check is about what the agent does']] : [];
}

function order([least, min]: readonly [string, number?], [most, max]: readonly [string, number?]): Found[] {
  if (min === undefined || max === undefined || min <= max) return [];
  return [[[most], `must not be less than ${least} (${min})`]];
}

function understoodViolations(values: readonly ValueSource[]): Found[] {
  const isArgument = (source: ValueSource) => 'tool' in source && source.argument !== undefined;
  const isSaid = (source: ValueSource) => 'value' in source || ('pattern' in source && source.speaker === 'caller');
  return [
    ...(values.some(isArgument) ? [] : [[['values'], 'must have an argument of a tool: what was understood'] as const]),
    ...(values.some(isSaid)
      ? []
      : [[['values'], "must have what the caller said: a value, or a pattern in the caller's words"] as const]),
  ];
}
