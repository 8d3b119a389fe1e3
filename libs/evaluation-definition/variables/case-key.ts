import { createHash } from 'node:crypto';
import { canonical } from '../definition/canonical.js';
import type { VariablesRow } from '../definition/definition.js';

/** Hexadecimal digits of the hash of a row. */
const HASH_LENGTH = 12;

/** Identifies a row of variables by its content, whatever the order of its names. */
export const rowHash = (row: VariablesRow): string =>
  createHash('sha256').update(canonical(row)).digest('hex').slice(0, HASH_LENGTH);

/** Identity of a case across runs: the evaluation's id and, with variables, the hash of the row. */
export const caseKey = (evaluationId: string, row: VariablesRow | null): string =>
  row === null ? evaluationId : `${evaluationId}#${rowHash(row)}`;
