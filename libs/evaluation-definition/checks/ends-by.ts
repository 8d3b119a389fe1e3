import { canonical } from '../definition/canonical.js';
import { ENDED_BY, type EndsBySpec, type PartialDefinition } from '../definition/definition.js';
import { neverExceeded, PLAIN } from './common.js';
import type { Found, Kinds } from './kind.js';
import { check, milliseconds } from './parts-schema.js';

export const ENDS_BY = {
  ends_by: {
    ...PLAIN,
    schema: check(
      'Ends by',
      'The call is ended by this side.',
      {
        by: { type: 'string', description: 'Who ends the call', enum: ['caller', 'agent'] },
        code: {
          type: 'string',
          description: 'How the call ends: the `end.code` of the result',
          enum: [...ENDED_BY.agent, ...ENDED_BY.caller],
        },
        withinMs: milliseconds('Milliseconds from the end of the first goodbye of either side to the end of the call'),
      },
      ['by'],
    ),
    // The goodbye is found in the words of both sides.
    needs: ({ withinMs }) => (withinMs === undefined ? [] : ['words']),
    describe: ({ by, code, withinMs }) => {
      const how = code === undefined ? '' : ` (${code})`;
      return `the ${by} ends the call${how}${withinMs === undefined ? '' : ` within ${withinMs} ms of the goodbye`}`;
    },
    violations: endViolations,
    subject: ({ type, by, code, withinMs }) => [`${type} ${canonical({ code, withinMs })}`, by],
    acts: ({ by }) => (by === 'agent' ? ['hangUp'] : []),
    notInRecording: 'who ended the call',
  },
} satisfies Pick<Kinds, EndsBySpec['type']>;

function endViolations({ by, code, withinMs }: EndsBySpec, definition: PartialDefinition): Found[] {
  const codes: readonly string[] = ENDED_BY[by];
  return [
    ...(code === undefined || codes.includes(code)
      ? []
      : [[['code'], `must be one of ${codes.join(', ')} for an end by the ${by}`] as const]),
    ...(withinMs === undefined ? [] : neverExceeded(withinMs, definition, 'withinMs')),
  ];
}
