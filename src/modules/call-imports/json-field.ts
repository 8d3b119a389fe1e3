import { findJsonViolations, sentence } from '../../../libs/json-input/index.js';

/** Violations of a field that are named. */
const MAX_NAMED = 10;

/** What is wrong with a field, one sentence each. */
export interface Issues {
  readonly issues: string[];
}

/** The value of a form's field that is JSON. @param maxValues that it may have */
export function parsedJson(field: string, text: string, maxValues: number): { readonly json: unknown } | Issues {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return { issues: [`${field} must be valid JSON`] };
  }
  const { violations } = findJsonViolations(json, { maxValues, maxViolations: MAX_NAMED });
  const issues = violations.map(({ path, text: what }) => sentence({ path: [field, ...path], text: what }));
  return issues.length > 0 ? { issues } : { json };
}

/**
 * The entries of a list.
 * @param issueOf the rest of a sentence about an entry, which begins with its path
 */
export function inListOf(
  field: string,
  json: unknown,
  most: number,
  issueOf: (entry: unknown) => string | undefined,
): readonly unknown[] | Issues {
  if (!Array.isArray(json)) return { issues: [`${field} must be a JSON array`] };
  if (json.length > most) return { issues: [`${field} must have at most ${most} entries; it has ${json.length}`] };
  const issues = json.flatMap((entry, index) => {
    const issue = issueOf(entry);
    return issue === undefined ? [] : [`${field}[${index}]${issue}`];
  });
  const more = issues.length - MAX_NAMED;
  if (more > 0) return { issues: [...issues.slice(0, MAX_NAMED), `${field} has ${more} further faults`] };
  return issues.length > 0 ? { issues } : (json as unknown[]);
}
