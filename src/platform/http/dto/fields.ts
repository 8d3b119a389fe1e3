import { applyDecorators } from '@nestjs/common';
import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { buildMessage, IsBoolean, IsIn, ValidateBy, ValidateIf } from 'class-validator';
import { codePoints, textViolation } from '../../../../libs/json-input/index.js';
import { isObject } from '../../../../libs/json-input/index.js';
import { isMasked, MASK } from '../../encryption/mask.js';
import { EXAMPLE_ID, type ExampleKind } from './example-ids.js';

/** Options of every field decorator. One decorator validates, transforms and documents a field. */
export interface FieldOptions {
  readonly description: string;
  readonly example?: unknown;
  /** May be absent. */
  readonly optional?: boolean;
  /** May be null. */
  readonly nullable?: boolean;
  /** Value when absent. Documentation only: the service applies it. */
  readonly default?: unknown;
}

/** Maximum lengths in Unicode code points. */
export const MAX_LENGTH = { name: 255, url: 2_048, identifier: 255, credential: 4_096, text: 100_000 } as const;

export interface StringFieldOptions extends FieldOptions {
  readonly maxLength: number;
  readonly minLength?: number;
  readonly format?: string;
  readonly pattern?: RegExp;
}

/** A string of limited length and valid Unicode. */
export function StringField(options: StringFieldOptions): PropertyDecorator {
  const { maxLength, minLength = 0, pattern } = options;
  const violation = (value: unknown): string | undefined => {
    if (typeof value !== 'string') return 'must be a string';
    const length = codePoints(value);
    if (length < minLength) return minLength === 1 ? 'must not be empty' : `must have at least ${minLength} characters`;
    if (length > maxLength) return `must have at most ${maxLength} characters`;
    return textViolation(value);
  };
  return field(
    options,
    {
      type: 'string',
      ...limits({ minLength: minLength || undefined, maxLength, format: options.format, pattern: pattern?.source }),
    },
    [checked('string', violation)],
  );
}

/** A credential in a request. A mask is rejected, so that a client that sends back what it read destroys nothing. */
export function CredentialField(options: StringFieldOptions): PropertyDecorator {
  const violation = (value: unknown): string | undefined =>
    typeof value === 'string' && isMasked(value)
      ? `must not begin with ${MASK}, the mask of a stored credential: send the credential itself, or leave the field ` +
        'out of an update to keep the stored one'
      : undefined;
  return applyDecorators(
    StringField({ ...options, pattern: new RegExp(`^(?!${MASK})`) }),
    checked('unmasked', violation),
  );
}

/**
 * An http or https URI by RFC 3986, as `format: uri` promises. `URL` alone accepts more: spaces, line breaks, a missing
 * `//`.
 */
const WEB_ADDRESS = (() => {
  const plain = String.raw`[\w\-.~!$&'()*+,;=]|%[0-9a-f]{2}`;
  const segment = `(?:${plain}|[:@])*`;
  const authority = String.raw`(?:(?:${plain}|:)*@)?(?:\[[0-9a-f:.]+\]|(?:${plain})+)(?::\d*)?`;
  return new RegExp(
    `^https?://${authority}(?:/${segment})*(?:\\?(?:${plain}|[:@/?])*)?(?:#(?:${plain}|[:@/?])*)?$`,
    'i',
  );
})();

/** An absolute http or https URL. */
export function UrlField(options: FieldOptions): PropertyDecorator {
  const violation = (value: unknown): string | undefined => {
    if (typeof value !== 'string') return 'must be a string';
    if (codePoints(value) > MAX_LENGTH.url) return `must have at most ${MAX_LENGTH.url} characters`;
    if (!WEB_ADDRESS.test(value) || !URL.canParse(value)) {
      return 'must be an absolute http or https address';
    }
    return textViolation(value);
  };
  return field(options, { type: 'string', format: 'uri', maxLength: MAX_LENGTH.url }, [checked('url', violation)]);
}

/** One of a closed list of strings. */
export function EnumField(values: readonly string[], options: FieldOptions): PropertyDecorator {
  return field(options, { type: 'string', enum: [...values] }, [
    IsIn([...values], { message: `$property must be one of ${values.join(', ')}` }),
  ]);
}

/** A finite number. */
export function NumberField(options: FieldOptions & { minimum?: number; maximum?: number }): PropertyDecorator {
  return field(options, { type: 'number', ...range(options) }, [
    checked('number', (value) => numberViolation(value, 'a number', options)),
  ]);
}

/** A whole number in JSON. */
export function IntegerField(options: FieldOptions & { minimum?: number; maximum?: number }): PropertyDecorator {
  return field(options, { type: 'integer', ...range(options) }, [
    checked('integer', (value) => numberViolation(value, 'a whole number', options)),
  ]);
}

/** A whole number in a query string: plain decimal digits, given once. */
export function QueryIntegerField(options: FieldOptions & { minimum: number; maximum: number }): PropertyDecorator {
  const digits = ({ value }: { value: unknown }): unknown =>
    typeof value === 'string' && /^\d{1,16}$/.test(value) ? Number(value) : value;
  return applyDecorators(Transform(digits), IntegerField(options));
}

/** true or false. */
export function BooleanField(options: FieldOptions): PropertyDecorator {
  return field(options, { type: 'boolean' }, [IsBoolean({ message: '$property must be true or false' })]);
}

/** An object with free names, whose values the service checks. */
export function ObjectField(options: FieldOptions & { values?: object; maxEntries?: number }): PropertyDecorator {
  // The original: class-transformer copies objects without a class, and not all of their entries.
  const original = ({ obj, key }: { obj: Readonly<Record<string, unknown>>; key: string }): unknown => obj[key];
  const { values: additionalProperties = true, maxEntries: maxProperties } = options;
  const schema = { type: 'object', additionalProperties, ...limits({ maxProperties }) } as ApiPropertyOptions;
  return applyDecorators(
    Transform(original),
    field(options, schema, [checked('object', (value) => (isObject(value) ? undefined : 'must be an object'))]),
  );
}

/** A date and time of ISO 8601; responses always carry UTC with milliseconds. */
export function TimestampField(options: FieldOptions): PropertyDecorator {
  return StringField({ format: 'date-time', maxLength: 64, example: '2026-11-21T06:37:42.758Z', ...options });
}

/** An identifier generated by the service. */
export function IdField({
  kind,
  ...options
}: FieldOptions & { kind: ExampleKind; pattern?: RegExp }): PropertyDecorator {
  return StringField({ format: 'uuid', maxLength: MAX_LENGTH.identifier, example: EXAMPLE_ID[kind], ...options });
}

const UUID = /^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$/;

/** An optional identifier in a query. */
export function QueryIdField({ kind, description }: { kind: ExampleKind; description: string }): PropertyDecorator {
  const violation = `must be the id of ${/^[aeiou]/.test(kind) ? 'an' : 'a'} ${kind}`;
  return applyDecorators(
    IdField({ kind, description, pattern: UUID, optional: true }),
    checked('uuid', (value) => (typeof value === 'string' && UUID.test(value) ? undefined : violation)),
  );
}

function numberViolation(
  value: unknown,
  kind: string,
  { minimum, maximum }: { minimum?: number; maximum?: number },
): string | undefined {
  if (typeof value !== 'number' || !Number.isFinite(value)) return `must be ${kind}`;
  if (kind === 'a whole number' && !Number.isSafeInteger(value)) return `must be ${kind}`;
  if (minimum !== undefined && value < minimum) return `must not be less than ${minimum}`;
  if (maximum !== undefined && value > maximum) return `must not be greater than ${maximum}`;
  return undefined;
}

/** A validator from a function that returns the violation, the rest of a sentence about the field. */
export function checked(name: string, violation: (value: unknown) => string | undefined): PropertyDecorator {
  return ValidateBy({
    name,
    validator: {
      validate: (value) => violation(value) === undefined,
      defaultMessage: buildMessage((each, args) => `${each}$property ${violation(args?.value) ?? ''}`),
    },
  });
}

function field(options: FieldOptions, schema: ApiPropertyOptions, validators: PropertyDecorator[]): PropertyDecorator {
  const { description, optional = false, nullable = false } = options;
  return applyDecorators(
    ApiProperty({
      ...schema,
      description,
      required: !optional,
      ...(nullable && { nullable: true }),
      ...limits({ example: options.example, default: options.default }),
    } as ApiPropertyOptions),
    ...validators,
    ...(optional ? [ValidateIf((_, value) => value !== undefined)] : []),
    ...(nullable ? [ValidateIf((_, value) => value !== null)] : []),
  );
}

const range = ({ minimum, maximum }: { minimum?: number; maximum?: number }) => limits({ minimum, maximum });

/** The entries that are defined: the OpenAPI document must not list empty keywords. */
function limits<T extends object>(entries: T): Partial<T> {
  return Object.fromEntries(Object.entries(entries).filter(([, value]) => value !== undefined)) as Partial<T>;
}
