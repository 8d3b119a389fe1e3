import {
  type CheckType,
  describeCheck,
  type ListSpec,
  type NestedCheck,
  type WhenSpec,
} from '../../evaluation-definition/index.js';
import type { Finding } from './check-result.js';
import type { Composed, ComposedChecks, Evaluate } from './kind.js';

/*
 * Three-valued logic: a composed check is undecided (null) only if the undecided ones among its parts could change it.
 */

export const COMPOSED: ComposedChecks = {
  any_of: { evaluate: anyOf },
  all_of: { evaluate: allOf },
  not: { evaluate: async ({ check }, evaluate) => not(await evaluate(check)) },
  when: { evaluate: whenMet },
};

/** What a check finds by the findings of the checks in it that have no others inside. */
export async function fromParts(check: NestedCheck, found: ReadonlyMap<NestedCheck, Finding>): Promise<Finding> {
  const composed = (COMPOSED as Readonly<Partial<Record<CheckType, Composed<NestedCheck>>>>)[check.type];
  return composed ? composed.evaluate(check, (part) => fromParts(part, found)) : found.get(check)!;
}

async function anyOf({ checks }: ListSpec, evaluate: Evaluate): Promise<Finding> {
  const found = await all(checks, evaluate);
  const whole = or(found);
  const { met } = whole;
  const decisive = decisiveParts(found, met);
  const what = met === false ? 'None is met' : met === null ? 'None is met for certain' : 'Met';
  return withParts(whole, `${what}: ${texts(met === true ? decisive.slice(0, 1) : decisive)}`, decisive);
}

async function allOf({ checks }: ListSpec, evaluate: Evaluate): Promise<Finding> {
  const found = await all(checks, evaluate);
  const whole = not(or(found.map(not)));
  const { met } = whole;
  const decisive = decisiveParts(found, met);
  const what = met === false ? 'Not met' : met === null ? 'Not decided' : `All ${found.length} are met`;
  return withParts(whole, `${what}: ${texts(decisive)}`, decisive);
}

async function whenMet({ if: condition, then }: WhenSpec, evaluate: Evaluate): Promise<Finding> {
  const given = await evaluate(condition);
  if (given.met === false) return { ...not(given), detail: `Not applicable: ${given.detail}`, evidence: [] };
  const wanted = await evaluate(then);
  const detail = `${given.met === null ? '' : 'Applicable: '}${given.detail}. ${wanted.detail}`;
  return withParts(or([not(given), wanted]), detail, [given, wanted]);
}

interface Part extends Finding {
  readonly name?: string;
}

async function all(checks: readonly NestedCheck[], evaluate: Evaluate): Promise<Part[]> {
  const found: Part[] = [];
  for (const check of checks) found.push({ ...(await evaluate(check)), name: check.name ?? describeCheck(check) });
  return found;
}

type Whole = Pick<Finding, 'met' | 'settledBy'>;

const not = <T extends Whole>(finding: T): T => ({ ...finding, met: finding.met === null ? null : !finding.met });

/** Met once the first part is; not met once all are not. */
function or(found: readonly Whole[]): Whole {
  const met = found.some((each) => each.met === true) ? true : found.some((each) => each.met === null) ? null : false;
  const entries = found.filter((each) => each.met === met).map(({ settledBy }) => settledBy ?? Infinity);
  const settled = met === null ? Infinity : met ? Math.min(...entries) : Math.max(...entries);
  return { met, ...(Number.isFinite(settled) && { settledBy: settled }) };
}

/** The parts that have the result of the whole. */
const decisiveParts = (found: readonly Part[], met: boolean | null): Part[] => found.filter((each) => each.met === met);

const MAX_TEXTS = 3;

function texts(parts: readonly Part[]): string {
  const shown = parts
    .slice(0, MAX_TEXTS)
    .map(({ name, detail }) => (name === undefined ? detail : `${name} (${detail})`));
  const more = parts.length - MAX_TEXTS;
  return `${shown.join('; ')}${more > 0 ? `; and ${more} more` : ''}`;
}

const MAX_EVIDENCE = 10;

function withParts(whole: Whole, detail: string, parts: readonly Part[]): Finding {
  const evidence = parts.flatMap((part) => part.evidence).slice(0, MAX_EVIDENCE);
  const undecided = whole.met === null ? parts.find((part) => part.undecided)?.undecided : undefined;
  return { ...whole, detail, evidence, ...(undecided && { undecided }) };
}
