import type { HearsKeysSpec, PartialDefinition } from '../definition/definition.js';
import { ref } from '../definition/json-schema.js';
import { LIMITS } from '../definition/limits.js';
import { eventText, needsOfEvent, PLAIN, shown } from './common.js';
import type { EventPart, Found, Kinds } from './kind.js';
import { check } from './parts-schema.js';

export const KEYS = {
  hears_keys: {
    ...PLAIN,
    schema: check(
      'Hears keys',
      'The agent acts on keys that the caller presses (`press`): as `then` says or, without it, by saying something or transferring the call before the caller acts again.',
      {
        keys: {
          type: 'string',
          description: 'The keys, as in a `press` step of the script, without `w`',
          minLength: 1,
          maxLength: LIMITS.keys,
          pattern: '^[0-9*#A-D]+$',
          patternErrorMessage: 'must consist of 0 to 9, *, # and A to D',
          examples: ['123#'],
        },
        then: {
          allOf: [ref('KeysReaction')],
          description: 'What the agent does after the last of the keys, and before the caller acts again',
        },
      },
      ['keys'],
    ),
    needs: (spec) => ['voice', ...eventsOf(spec).flatMap(([, event]) => needsOfEvent(event))],
    describe: ({ keys, then }) => `after the keys ${keys}, ${reactionText(then)}`,
    violations: (spec, { script }) => [...keysViolations(spec, script), ...reactionViolations(spec)],
    events: eventsOf,
    acts: ({ then }) => (then === undefined || 'transfer' in then ? ['keys', 'transfer'] : ['keys']),
    notInRecording: 'the keys that the caller pressed',
  },
} satisfies Pick<Kinds, HearsKeysSpec['type']>;

function eventsOf({ then }: HearsKeysSpec): EventPart[] {
  return then === undefined || 'transfer' in then ? [] : [[['then'], then]];
}

function reactionText(then: HearsKeysSpec['then']): string {
  if (then === undefined) return 'agent says something or transfers the call';
  if (!('transfer' in then)) return eventText(then);
  return `agent transfers the call${then.transfer === true ? '' : ` to "${shown(then.transfer)}"`}`;
}

function keysViolations({ keys }: HearsKeysSpec, script: PartialDefinition['script']): Found[] {
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
