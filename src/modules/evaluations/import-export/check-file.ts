import {
  authored,
  authoredPersonality,
  createValidationContext,
  type FileEvaluationInput,
  findViolations,
  type InputKind,
  type Path,
  type PersonalityInput,
  shownName,
  shownPath,
  SizeExceeded,
  textViolation,
  type ValidationContext,
  type Violation,
} from '../../../../libs/evaluation-definition/index.js';
import { about, DomainError, type Issue } from '../../../platform/errors/domain-error.js';
import { issueOf } from '../../../platform/http/dto/issues.js';
import { IssueList, type IssueListState } from '../definition/issue-list.js';
import { type EvaluationFile, readFile } from './file.js';
import type { FileContents, FileItem } from './file-item.js';
import { MAX_FILE_SIZE } from './media-types.js';

/** Maximum number of characters and values after resolving aliases; files without aliases never exceed it. */
const MAX_UNFOLDED_SIZE = 2 * MAX_FILE_SIZE;
/** Characters of a batch's JSON before it is closed. */
const BATCH_SIZE = 1024 * 1024;

/** How an issue about one field of an item begins and ends. */
export interface Place {
  /** The path of the field, for example `evaluations[3].personality`. */
  readonly field: string;
  /** The item's key or name and, in YAML and CSV, the line. */
  readonly detail: string;
}

/** How an evaluation names its personality. */
export type PersonalityReference = { readonly id: string } | { readonly name: string };

export interface CheckedEvaluation {
  /** Empty if it is invalid. */
  readonly key: string;
  readonly personality: PersonalityReference;
  /** Of the field that names the personality. */
  readonly place: Place;
}

export interface CheckedPersonality {
  readonly name: string;
  /** Of its name. */
  readonly place: Place;
}

/** The contents of consecutive items as the JSON list that the repositories take. */
export interface ContentBatch {
  readonly json: string;
  readonly count: number;
}

/** A file whose items were validated. Plain data, because it comes from another thread. */
export interface CheckedFile {
  /** The evaluations in file order; with issues, those whose personality can still be looked up. */
  readonly evaluations: readonly CheckedEvaluation[];
  /** The personalities in file order; with issues, those that have a name. */
  readonly personalities: readonly CheckedPersonality[];
  /** The contents of the evaluations, without their personalities; empty if there are issues. */
  readonly evaluationBatches: readonly ContentBatch[];
  /** The contents of the personalities; empty if there are issues. */
  readonly personalityBatches: readonly ContentBatch[];
  readonly issues: IssueListState;
}

/**
 * Parses and validates a file.
 * @throws DomainError BAD_REQUEST for a file that cannot be parsed, PAYLOAD_TOO_LARGE
 */
export function checkFile(file: EvaluationFile): CheckedFile {
  const contents = readFile(file);
  const checker = new FileChecker(contents);
  return checker.check(contents);
}

class FileChecker {
  private readonly issues = new IssueList();
  private readonly context: ValidationContext = createValidationContext(MAX_UNFOLDED_SIZE);

  constructor(private readonly contents: FileContents) {}

  check({ personalities, evaluations, violations }: FileContents): CheckedFile {
    for (const violation of violations) this.issues.add(issueOf(violation, this.detailOf(violation.path)));
    this.checkItems(personalities, 'personality', 'name');
    this.checkItems(evaluations, 'file', 'key');
    const isValid = this.issues.isEmpty;
    return {
      personalities: personalities.flatMap((item) => this.personalityOf(item) ?? []),
      evaluations: evaluations.flatMap((item) => this.evaluationOf(item) ?? []),
      personalityBatches: isValid ? [...batchesOf(personalities, personalityContent)] : [],
      evaluationBatches: isValid ? [...batchesOf(evaluations, evaluationContent)] : [],
      issues: this.issues.state,
    };
  }

  /** @param identifier the field that identifies an item and must be unique in the file */
  private checkItems(items: readonly FileItem[], kind: InputKind, identifier: 'key' | 'name'): void {
    const paths = new Map<string, FileItem['path']>();
    for (const item of items) {
      if (this.issues.isFull) break;
      const violations = [...item.violations, ...this.violationsOf(kind, item)];
      const id = textIn(item, identifier);
      const earlier = id === undefined ? undefined : paths.get(id);
      if (earlier !== undefined) {
        violations.push({ path: [identifier], text: `is already used by ${shownPath(earlier)}` });
      } else if (id !== undefined) paths.set(id, item.path);
      for (const { path, text } of violations) {
        const violation = { path: [...item.path, ...path], text };
        this.issues.add(issueOf(violation, this.detailOf(violation.path, item)));
      }
    }
  }

  private violationsOf(kind: InputKind, { value }: FileItem): Violation[] {
    try {
      return findViolations(kind, value, this.context);
    } catch (error) {
      if (!(error instanceof SizeExceeded)) throw error;
      throw new DomainError('PAYLOAD_TOO_LARGE', undefined, [
        'body must be at most 20 MiB once its aliases are resolved',
      ]);
    }
  }

  private personalityOf(item: FileItem): CheckedPersonality | undefined {
    const name = storableIn(item, 'name');
    return name === undefined ? undefined : { name, place: this.placeOf(item, 'name') };
  }

  private evaluationOf(item: FileItem): CheckedEvaluation | undefined {
    const name = storableIn(item, 'personality');
    const id = textIn(item, 'personalityId')?.toLowerCase();
    const key = storableIn(item, 'key') ?? '';
    // An item with both or none has an issue already.
    if (name !== undefined && id === undefined) {
      return { key, personality: { name }, place: this.placeOf(item, 'personality') };
    }
    if (name === undefined && id !== undefined && UUID.test(id)) {
      return { key, personality: { id }, place: this.placeOf(item, 'personalityId') };
    }
    return undefined;
  }

  private placeOf(item: FileItem, field: string): Place {
    const path = [...item.path, field];
    return { field: shownPath(path), detail: this.detailOf(path, item) };
  }

  /** The item's key or name and the line, for the end of an issue. */
  private detailOf(path: Path, item?: FileItem): string {
    const line = this.contents.lineOf(path);
    const [list] = path;
    const identifier = list === 'personalities' ? 'name' : 'key';
    const id = item && textIn(item, identifier);
    const parts = [
      ...(id === undefined ? [] : [`${identifier} ${JSON.stringify(shownName(id))}`]),
      ...(line === undefined ? [] : [`line ${line}`]),
    ];
    return parts.length === 0 ? '' : ` (${parts.join(', ')})`;
  }
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** An issue about a field of an item that was found after the file was validated. */
export const issueAt = ({ field, detail }: Place, text: string): Issue => about(field, `${text}${detail}`);

function textIn({ value }: FileItem, name: string): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const text = (value as Readonly<Record<string, unknown>>)[name];
  return typeof text === 'string' && text !== '' ? text : undefined;
}

/** A text that can be looked up in the database. */
function storableIn(item: FileItem, name: string): string | undefined {
  const text = textIn(item, name);
  return text === undefined || textViolation(text) ? undefined : text;
}

const personalityContent = ({ value }: FileItem): object => authoredPersonality(value as PersonalityInput);

function evaluationContent({ value }: FileItem): object {
  const input = value as FileEvaluationInput;
  // null stands for the agent's number, and the personality is looked up: both in the transaction that writes.
  const { personalityId: _, ...content } = authored({ ...input, personalityId: '' }, '');
  return { ...content, vendorCallPhoneNumber: input.vendorCallPhoneNumber ?? null };
}

/** The batches are small, so that neither this process nor the database handles 10 MiB at once. */
function* batchesOf(items: readonly FileItem[], contentOf: (item: FileItem) => object): Generator<ContentBatch> {
  let texts: string[] = [];
  let size = 0;
  for (const item of items) {
    const text = JSON.stringify(contentOf(item));
    texts.push(text);
    size += text.length;
    if (size < BATCH_SIZE) continue;
    yield { json: `[${texts.join(',')}]`, count: texts.length };
    texts = [];
    size = 0;
  }
  if (texts.length > 0) yield { json: `[${texts.join(',')}]`, count: texts.length };
}
