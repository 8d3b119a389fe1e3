import { sample } from '../../../libs/statistics/testing/sample.js';
import type { FieldsOfExchange } from './fields-of-exchange.js';
import { shownField } from './fields.js';
import { DEEP, HOSTILE_VALUES, unstorable } from './values.js';

export interface Compared<Result> {
  readonly results: readonly Result[];
  /** Fields and hostile values with another verdict than harmless JSON of the same shape, or with what cannot be stored. */
  readonly wrong: readonly string[];
}

/**
 * Repeats a healthy exchange with each hostile value in each of its fields.
 * @param verdict of a result
 * @param mayRefuse whether a list that is nested too deeply may end in this verdict
 * @param atOnce exchanges in parallel
 */
export async function compared<Result>(
  exchange: FieldsOfExchange,
  run: (variant: string) => Promise<Result>,
  verdict: (result: Result) => string,
  { mayRefuse = () => false, atOnce = 50 }: { mayRefuse?: (result: Result) => boolean; atOnce?: number } = {},
): Promise<Compared<Result>> {
  const harmless = new Map<string, Promise<string>>();
  const results: Result[] = [];
  const wrong: string[] = [];
  const cases = exchange.fields.flatMap((field) => HOSTILE_VALUES.map((hostile) => [field, hostile] as const));
  const waiting = sample(cases).map(([field, [what, json, other]], index) => async () => {
    const [control, hostile] = [`c${index}`, `h${index}`];
    exchange.changes.set(control, { field, json: other }).set(hostile, { field, json });
    const key = `${shownField(field)} ${other}`;
    if (!harmless.has(key)) harmless.set(key, run(control).then(verdict));
    const result = await run(hostile);
    results.push(result);
    const [found, expected, bad] = [verdict(result), await harmless.get(key)!, unstorable(result)];
    const isSame = found === expected || (json === DEEP && mayRefuse(result));
    if (!isSame || bad.length > 0) wrong.push(JSON.stringify([shownField(field), what, found, expected, bad]));
  });
  const next = async (): Promise<void> => {
    for (let work = waiting.shift(); work; work = waiting.shift()) await work();
  };
  await Promise.all(Array.from({ length: atOnce }, next));
  return { results, wrong };
}
