import {
  authored,
  createValidationContext,
  type EvaluationInput,
  findViolations,
  sentence,
  SizeExceeded,
  type ValidationContext,
} from '../../../../libs/evaluation-definition/index.js';
import { DomainError } from '../../../platform/errors/domain-error.js';
import { IssueList, type IssueListState } from '../definition/issue-list.js';
import { type EvaluationFile, readFile } from './file.js';
import type { FileItem } from './file-item.js';
import { MAX_FILE_SIZE } from './media-types.js';

/** Maximum number of characters and values after resolving aliases; files without aliases never exceed it. */
const MAX_UNFOLDED_SIZE = 2 * MAX_FILE_SIZE;
/** Characters of a batch's JSON before it is closed. */
const BATCH_SIZE = 1024 * 1024;

/** A valid item, without its content. */
export interface CheckedItem {
  readonly key: string;
  readonly personalityId: string;
  /** Begins an issue about the item: its position in the file and a separator. */
  readonly prefix: string;
}

/** The contents of consecutive items as the JSON list that the repository takes. */
export interface ContentBatch {
  readonly json: string;
  readonly count: number;
}

/** A file whose items were validated. Plain data, because it comes from another thread. */
export interface CheckedFile {
  /** The valid items in file order. */
  readonly items: readonly CheckedItem[];
  /** The contents of the items in the same order; empty if there are issues. */
  readonly batches: readonly ContentBatch[];
  readonly issues: IssueListState;
}

interface ValidItem {
  readonly item: FileItem;
  readonly input: EvaluationInput & { readonly key: string };
}

/**
 * Parses and validates a file.
 * @throws DomainError BAD_REQUEST for a file that cannot be parsed, PAYLOAD_TOO_LARGE
 */
export function checkFile(file: EvaluationFile): CheckedFile {
  const issues = new IssueList();
  const valid = findValidItems(readFile(file), issues);
  return {
    items: valid.map(({ item, input }) => ({
      key: input.key,
      personalityId: input.personalityId.toLowerCase(),
      prefix: issueOf(item, ''),
    })),
    batches: issues.isEmpty ? [...contentBatches(valid)] : [],
    issues: issues.state,
  };
}

function findValidItems(items: readonly FileItem[], issues: IssueList): ValidItem[] {
  const context = createValidationContext(MAX_UNFOLDED_SIZE);
  const valid: ValidItem[] = [];
  const placeOf = new Map<unknown, string>();
  for (const item of items) {
    if (issues.isFull) break;
    const violations = violationsOf(item, context);
    const key = keyOf(item);
    const earlier = key === undefined ? undefined : placeOf.get(key);
    if (earlier !== undefined) violations.push(issueOf(item, `key is already used by ${earlier}`));
    else if (key !== undefined) placeOf.set(key, item.place);
    if (violations.length === 0) valid.push({ item, input: item.value as ValidItem['input'] });
    else for (const violation of violations) issues.add(violation);
  }
  return valid;
}

function violationsOf(item: FileItem, context: ValidationContext): string[] {
  try {
    const found = findViolations('file', item.value, context);
    // An unreadable cell is missing from the value; that is not reported again.
    return [
      ...item.violations.map((violation) => issueOf(item, violation)),
      ...found.map((violation) =>
        violation.path.length === 0 ? `${item.place} ${violation.text}` : issueOf(item, sentence(violation)),
      ),
    ];
  } catch (error) {
    if (!(error instanceof SizeExceeded)) throw error;
    throw new DomainError('PAYLOAD_TOO_LARGE', undefined, [
      'body must be at most 20 MiB once its aliases are resolved',
    ]);
  }
}

/** The batches are small, so that neither this process nor the database handles 10 MiB at once. */
function* contentBatches(valid: readonly ValidItem[]): Generator<ContentBatch> {
  let texts: string[] = [];
  let size = 0;
  for (const { input } of valid) {
    // null stands for the agent's number, which is only known in the transaction that writes.
    const phoneNumber = input.vendorCallPhoneNumber ?? null;
    const text = JSON.stringify({ ...authored(input, ''), vendorCallPhoneNumber: phoneNumber });
    texts.push(text);
    size += text.length;
    if (size < BATCH_SIZE) continue;
    yield { json: `[${texts.join(',')}]`, count: texts.length };
    texts = [];
    size = 0;
  }
  if (texts.length > 0) yield { json: `[${texts.join(',')}]`, count: texts.length };
}

const issueOf = ({ place, separator }: FileItem, violation: string): string => `${place}${separator}${violation}`;

function keyOf({ value }: FileItem): string | undefined {
  const key = typeof value === 'object' && value !== null ? (value as { key?: unknown }).key : undefined;
  return typeof key === 'string' ? key : undefined;
}
