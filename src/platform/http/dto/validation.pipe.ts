import { type ArgumentMetadata, Injectable, type Type, ValidationPipe } from '@nestjs/common';
import { getMetadataStorage, type ValidationError } from 'class-validator';
import { shownName, unknownField, unknownFields } from '../../../../libs/json-input/index.js';
import { about, DomainError, type Issue } from '../../errors/domain-error.js';
import { invalidFields, issueOf } from './issues.js';

/** Validates bodies and query strings against their classes; every violation is one issue that begins with its field. */
@Injectable()
export class InputPipe extends ValidationPipe {
  /** Names of the fields of each class. */
  private readonly fields = new Map<Type, ReadonlySet<string>>();

  constructor() {
    super({
      transform: true,
      whitelist: true,
      forbidNonWhitelisted: true,
      stopAtFirstError: true,
      validationError: { target: false, value: false },
      exceptionFactory: (errors) =>
        new DomainError(
          'BAD_REQUEST',
          undefined,
          errors.flatMap((error) => issuesOf(error, '')),
        ),
    });
  }

  /** @throws DomainError BAD_REQUEST */
  override async transform(value: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    const { metatype } = metadata;
    if (!metatype || !this.toValidate(metadata) || typeof value !== 'object' || value === null) {
      return super.transform(value, metadata);
    }
    // Unknown names are found here: the libraries overlook those of every JavaScript object, such as `toString`.
    const known = this.fieldsOf(metatype);
    const [fields, unknown] = split(value, known);
    const issues = unknownFields(unknown, [...known]).map((violation) => issueOf(violation));
    try {
      const checked: unknown = await super.transform(fields, metadata);
      if (issues.length === 0) return checked;
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      issues.push(...(error.issues ?? []));
    }
    throw invalidFields(issues);
  }

  private fieldsOf(target: Type): ReadonlySet<string> {
    let fields = this.fields.get(target);
    if (!fields) {
      const rules = getMetadataStorage().getTargetValidationMetadatas(target, '', false, false);
      fields = new Set(rules.map((rule) => rule.propertyName));
      this.fields.set(target, fields);
    }
    return fields;
  }
}

/** The entries under known names, and the other names. */
function split(value: object, known: ReadonlySet<string>): [Record<string, unknown>, string[]] {
  const fields: Record<string, unknown> = {};
  const unknown: string[] = [];
  for (const [name, entry] of Object.entries(value) as [string, unknown][]) {
    if (known.has(name)) fields[name] = entry;
    else unknown.push(name);
  }
  return [fields, unknown];
}

function issuesOf(error: ValidationError, parent: string): Issue[] {
  const path = parent + shownName(error.property);
  const own = Object.entries(error.constraints ?? {}).map(([constraint, message]) => {
    if (constraint === 'whitelistValidation') return about(path, unknownField(error.property));
    return { message: parent + message, field: path };
  });
  const children = (error.children ?? []).flatMap((child) => issuesOf(child, `${path}.`));
  return [...own, ...children];
}
