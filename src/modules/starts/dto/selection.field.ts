import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { ValidateIf } from 'class-validator';
import { checked } from '../../../platform/http/dto/fields.js';

interface ListOptions {
  readonly description: string;
  readonly example: readonly string[];
  readonly maxItems: number;
  readonly items: Readonly<Record<string, unknown>>;
  readonly violation: (item: string) => string | undefined;
}

/** An optional, non-empty list of unique strings. */
export function SelectionField({ description, example, maxItems, items, violation }: ListOptions): PropertyDecorator {
  const listViolation = (value: unknown): string | undefined => {
    if (!Array.isArray(value)) return 'must be an array';
    if (value.length === 0) return 'must not be empty; omit it to run all evaluations';
    if (value.length > maxItems) return `must have at most ${maxItems} entries`;
    for (const [index, item] of (value as unknown[]).entries()) {
      const found = typeof item === 'string' ? violation(item) : 'must be a string';
      if (found !== undefined) return `has an invalid entry: the one at position ${index} ${found}`;
    }
    return new Set(value).size < value.length ? 'must not contain duplicates' : undefined;
  };
  return applyDecorators(
    ApiProperty({
      description,
      type: 'array',
      items: { type: 'string', ...items },
      minItems: 1,
      maxItems,
      uniqueItems: true,
      required: false,
      example: [...example],
    }),
    checked('selection', listViolation),
    ValidateIf((_, value) => value !== undefined),
  );
}
