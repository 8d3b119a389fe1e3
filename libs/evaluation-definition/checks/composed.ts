import type { ListSpec, NotSpec, WhenSpec } from '../definition/definition.js';
import { type JsonSchema, ref } from '../definition/json-schema.js';
import { LIMITS } from '../definition/limits.js';
import { list, PLAIN } from './common.js';
import type { CheckKind, Kinds } from './kind.js';
import { check } from './parts-schema.js';

const nestedCheck = (description: string): JsonSchema => ({ allOf: [ref('Check')], description });
const nestedChecks = {
  type: 'array',
  description: 'Checks; they may contain checks themselves, but no deeper ones. Weights belong to the outermost check',
  items: ref('Check'),
  minItems: 1,
  maxItems: LIMITS.nestedChecks,
};

/** All that it is about is in the checks inside it. */
const COMPOSED_CHECK = {
  ...PLAIN,
  needs: () => [],
  notInRecording: null,
};

const LIST = {
  ...COMPOSED_CHECK,
  isProhibition: ({ checks }, nested) => checks.every(nested),
  parts: ({ checks }) => checks.map((each, index) => [['checks', index], each] as const),
} satisfies Partial<CheckKind<ListSpec>>;

export const COMPOSED = {
  any_of: {
    ...LIST,
    schema: check('Any of', 'At least one of the checks is met.', { checks: nestedChecks }, ['checks']),
    describe: ({ checks }, nested) => `at least one of: ${list(checks.map(nested), '; ')}`,
  },
  all_of: {
    ...LIST,
    schema: check('All of', 'All of the checks are met.', { checks: nestedChecks }, ['checks']),
    describe: ({ checks }, nested) => `all of: ${list(checks.map(nested), '; ')}`,
  },
  not: {
    ...COMPOSED_CHECK,
    schema: check('Not', 'The check is not met.', { check: nestedCheck('Check that must not be met') }, ['check']),
    describe: (spec, nested) => `not: ${nested(spec.check)}`,
    isProhibition: (spec) => spec.check.type === 'says' || spec.check.type === 'calls_tool',
    parts: (spec) => [[['check'], spec.check]],
  },
  when: {
    ...COMPOSED_CHECK,
    schema: check(
      'When',
      'If the first check is met, so is the second. If the first is not met, this check is.',
      { if: nestedCheck('Condition'), then: nestedCheck('Check that must be met if the condition is') },
      ['if', 'then'],
    ),
    describe: (spec, nested) => `if ${nested(spec.if)}, then ${nested(spec.then)}`,
    isProhibition: ({ then }, nested) => nested(then),
    parts: (spec) => [
      [['if'], spec.if],
      [['then'], spec.then],
    ],
  },
} satisfies Pick<Kinds, (ListSpec | NotSpec | WhenSpec)['type']>;
