import { invalidInput } from '../../../platform/errors/domain-error.js';

/** Fields at the top of a file, or of the first item of its list, by which a tool's file is known; all of an alternative. */
const SHAPES: readonly (readonly [tool: string, alternatives: readonly (readonly string[])[]])[] = [
  ['a promptfoo', [['prompts'], ['providers'], ['defaultTest'], ['vars', 'assert'], ['assert']]],
  [
    'a Rasa',
    [['test_cases'], ['test_case', 'steps'], ['stories'], ['story', 'steps'], ['nlu'], ['simulation_context']],
  ],
  ['an ElevenLabs', [['success_condition'], ['success_conditions'], ['chat_history'], ['simulation_scenario']]],
  ['a Pipecat', [['turns'], ['persona', 'success'], ['scenarios']]],
  ['a Vapi', [['messages', 'type']]],
];
/** Fields whose list or object may hold the tests. */
const WRAPPERS = ['tests', 'scenario', 'data'] as const;

/**
 * Refuses a test file of another tool.
 * @throws DomainError BAD_REQUEST that names the tool, the field by which it is known, and where its counterparts are described
 */
export function refuseForeign(value: object, lineOf: (path: readonly (string | number)[]) => number | undefined): void {
  const found = recognised(value, []);
  if (!found) return;
  const line = lineOf(found.path);
  const place = `${String(found.path.at(-1))}${line === undefined ? '' : `, line ${line}`}`;
  throw invalidInput(
    `body is ${found.tool} file (${place}), not a suite: write its tests as described in docs/guides/suites.md, "Tests of other tools"`,
  );
}

interface Recognised {
  readonly tool: string;
  readonly path: readonly (string | number)[];
}

function recognised(value: unknown, path: readonly (string | number)[]): Recognised | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (Array.isArray(value)) return path.length > 1 ? undefined : recognised(value[0], [...path, 0]);
  // The fields of a suite, perhaps with mistakes, which are then named one by one.
  if ('evaluations' in value || 'scenarioText' in value || 'key' in value) return undefined;
  for (const [tool, alternatives] of SHAPES) {
    const fields = alternatives.find((names) => names.every((name) => Object.hasOwn(value, name)));
    if (fields) return { tool, path: [...path, fields[0]!] };
  }
  if (path.length > 1) return undefined;
  for (const name of WRAPPERS) {
    const inner = recognised((value as Readonly<Record<string, unknown>>)[name], [...path, name]);
    if (inner) return inner;
  }
  return undefined;
}
