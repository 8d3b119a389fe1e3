import { DomainError, type Issue } from '../../../platform/errors/domain-error.js';

/** Most issues that are listed; the rest is only counted. A file can have a million. */
const MAX_LISTED = 1_000;
/** Checking stops at this number of issues. */
const MAX_COUNTED = 20_000;

/** An `IssueList` as plain data, to continue it in another thread. */
export interface IssueListState {
  readonly listed: readonly Issue[];
  readonly count: number;
}

/** Collects the issues of a body or file, up to a maximum. */
export class IssueList {
  private readonly listed: Issue[];
  private count: number;

  constructor({ listed, count }: IssueListState = { listed: [], count: 0 }) {
    this.listed = [...listed];
    this.count = count;
  }

  add(issue: Issue): void {
    this.count += 1;
    if (this.listed.length < MAX_LISTED) this.listed.push(issue);
  }

  addAll(issues: readonly Issue[]): this {
    for (const issue of issues) this.add(issue);
    return this;
  }

  get state(): IssueListState {
    return { listed: this.listed, count: this.count };
  }

  get isEmpty(): boolean {
    return this.count === 0;
  }

  get isFull(): boolean {
    return this.count >= MAX_COUNTED;
  }

  /** @throws DomainError BAD_REQUEST, unless there is none */
  throwIfAny(): void {
    if (this.isEmpty) return;
    const more = this.count - this.listed.length;
    const issues =
      more > 0
        ? [...this.listed, `body has ${this.isFull ? 'more than ' : ''}${more} further violations`]
        : this.listed;
    throw new DomainError('BAD_REQUEST', undefined, issues);
  }
}
