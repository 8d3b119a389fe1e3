import type { PipeTransform } from '@nestjs/common';
import { type EvaluationInput, findViolations } from '../../../../libs/evaluation-definition/index.js';
import { issueOf } from '../../../platform/http/dto/issues.js';
import { IssueList } from './issue-list.js';

/**
 * Validates the body of a new evaluation or of a change to one against the JSON Schema that imported files and the
 * OpenAPI document use too, and reports all violations at once. Bind it with `@Body`, to a parameter typed by an
 * interface: for a class, the global validation pipe would look for its decorators.
 */
export class EvaluationSchemaPipe implements PipeTransform<unknown, Partial<EvaluationInput>> {
  constructor(private readonly kind: 'new' | 'change') {}

  /** @throws DomainError BAD_REQUEST */
  transform(body: unknown): Partial<EvaluationInput> {
    new IssueList().addAll(findViolations(this.kind, body).map((violation) => issueOf(violation))).throwIfAny();
    return body as Partial<EvaluationInput>;
  }
}
