import type { Path, Violation } from '../../json-input/index.js';
import type { PartialDefinition } from '../definition/definition.js';
import { LIMITS } from '../definition/limits.js';
import { type ScriptStep, type SpokenLine, startsDuringTurnAfter } from '../definition/script.js';

/** Lines with hesitations, keys, and steps during the agent's turn that could not be executed as they are written. */
export function voiceStepViolations(script: PartialDefinition['script']): Violation[] {
  return script.flatMap((step, index) => {
    if (!step) return [];
    const found = [...linesOf(step).flatMap(([path, line]) => lineViolations(path, line)), ...keyViolations(step)];
    return [...found, ...turnViolations(script, step, index)].map(([path, text]) => ({
      path: ['script', index, ...path],
      text,
    }));
  });
}

type Found = readonly [path: Path, text: string];

function linesOf(step: ScriptStep): (readonly [Path, SpokenLine])[] {
  if ('say' in step) return [[['say'], step.say]];
  if (!('answers' in step)) return [];
  return step.answers.map(({ say }, position) => [['answers', position, 'say'], say] as const);
}

function lineViolations(path: Path, line: SpokenLine): Found[] {
  if (typeof line === 'string') return [];
  const isText = (part: SpokenLine[number] | undefined): boolean => typeof part === 'string';
  const length = line.reduce((sum, part) => sum + (typeof part === 'string' ? [...part].length : 0), 0);
  return [
    ...(isText(line[0]) && isText(line.at(-1))
      ? []
      : [[path, 'must begin and end with words: silence before or after a line is waitSeconds'] as const]),
    ...line.flatMap((part, position): Found[] => {
      if (typeof part === 'string') {
        return part.trim() === '' ? [[[...path, position], 'must not consist of white space only']] : [];
      }
      const follows = position > 0 && !isText(line[position - 1]);
      return follows ? [[[...path, position], 'must not follow another pause: write one longer pause']] : [];
    }),
    ...(length > LIMITS.line ? [[path, `must have at most ${LIMITS.line} characters in all its texts`] as const] : []),
  ];
}

function keyViolations(step: ScriptStep): Found[] {
  const isOnlyWaiting = 'press' in step && /^w+$/.test(step.press);
  return isOnlyWaiting ? [[['press'], 'must have a key: to wait only, use waitSeconds']] : [];
}

/** Steps during the agent's turn belong to the response to the `say` directly before them. */
function turnViolations(script: PartialDefinition['script'], step: ScriptStep, index: number): Found[] {
  const afterMs = startsDuringTurnAfter(step);
  if (afterMs === undefined) return [];
  const field = 'say' in step ? ['bargeIn'] : ['afterMs'];
  if (step.when) {
    return [[['when'], `is not possible with ${field[0]}: the step begins before the agent's response is known`]];
  }
  const before = script[index - 1];
  if (index > 0 && !before) return [];
  if (!before || !('say' in before || startsDuringTurnAfter(before) !== undefined)) {
    return [[field, 'requires a step with say before it: the step belongs to the response to that line']];
  }
  if (before.when) {
    return [[field, `requires a step before it that is never skipped: script[${index - 1}] has when`]];
  }
  if ('say' in before) return [];
  const earlier = startsDuringTurnAfter(before) ?? 0;
  if (afterMs > earlier) return [];
  const at = 'say' in step ? ['bargeIn', 'afterMs'] : field;
  return [[at, `must be greater than ${earlier}, because script[${index - 1}] is in the same turn of the agent`]];
}
