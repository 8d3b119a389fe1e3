import type { PipeTransform } from '@nestjs/common';
import { isObject } from '../../../../libs/json-input/index.js';
import { type EvaluationInput, findViolations } from '../../../../libs/evaluation-definition/index.js';
import { issueOf } from '../../../platform/http/dto/issues.js';
import { IssueList } from './issue-list.js';

/**
 * Validates the body of a new evaluation or of a change to one against the JSON Schema that imported files and the
 * OpenAPI document use too, and reports all violations at once. Bind it with `@Body`, to a parameter typed by an
 * interface: for a class, the global validation pipe would look for its decorators. Of a change, `provisional: false` is not in
 * the schema, because files do not have it.
 */
export class EvaluationSchemaPipe implements PipeTransform<unknown, Partial<EvaluationInput>> {
  constructor(private readonly kind: 'new' | 'change') {}

  /** @throws DomainError BAD_REQUEST */
  transform(body: unknown): Partial<EvaluationInput> {
    const isProven = this.kind === 'change' && isObject(body) && body['provisional'] === false;
    const { provisional: _, ...authored } = isProven ? body : {};
    const violations = findViolations(this.kind, isProven ? authored : body);
    new IssueList().addAll(violations.map((violation) => issueOf(violation))).throwIfAny();
    return body as Partial<EvaluationInput>;
  }
}
