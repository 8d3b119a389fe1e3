import { clipped } from '../text/index.js';
import type { VariablesRow } from './definition.js';

/** Characters of a value in a name. */
const MAX_VALUE = 40;

/** Display name of a case: the evaluation's name and, with variables, the values of its row. */
export function caseName(evaluationName: string, row: VariablesRow | null): string {
  if (row === null) return evaluationName;
  const values = Object.entries(row).map(([name, value]) => `${name}: ${clipped(String(value), MAX_VALUE)}`);
  return `${evaluationName} (${values.join(', ')})`;
}
