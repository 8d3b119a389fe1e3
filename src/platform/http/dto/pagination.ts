import { ApiProperty } from '@nestjs/swagger';
import {
  Validate,
  ValidatorConstraint,
  type ValidatorConstraintInterface,
  type ValidationArguments,
} from 'class-validator';
import { DEFAULT_LIMIT, type Page, type PageRequest } from '../../database/page.js';
import { QueryIntegerField } from './fields.js';

@ValidatorConstraint({ name: 'offset' })
class OffsetIsSafe implements ValidatorConstraintInterface {
  validate(page: unknown, args: ValidationArguments): boolean {
    const { limit = DEFAULT_LIMIT } = args.object as PageQuery;
    // A wrong type is reported by the other validator.
    return typeof page !== 'number' || typeof limit !== 'number' || Number.isSafeInteger((page - 1) * limit);
  }

  defaultMessage(): string {
    return 'page must not lead beyond the safe integer range';
  }
}

/** Query parameters of every list. */
export class PageQuery implements PageRequest {
  @Validate(OffsetIsSafe)
  @QueryIntegerField({
    description: 'Page number, from 1',
    minimum: 1,
    maximum: Number.MAX_SAFE_INTEGER,
    optional: true,
    default: 1,
  })
  page?: number;

  @QueryIntegerField({
    description: 'Entries per page',
    minimum: 1,
    maximum: 100,
    optional: true,
    default: DEFAULT_LIMIT,
  })
  limit?: number;
}

export class PageMeta {
  @ApiProperty({ type: 'integer', minimum: 0, description: 'Entries in the whole list', example: 1 })
  total: number;

  @ApiProperty({ type: 'integer', minimum: 1, description: 'Number of this page', example: 1 })
  page: number;

  @ApiProperty({ type: 'integer', minimum: 1, maximum: 100, description: 'Entries per page', example: DEFAULT_LIMIT })
  limit: number;

  @ApiProperty({ type: 'integer', minimum: 0, description: 'Pages in the whole list, 0 when it is empty', example: 1 })
  pageCount: number;
}

export function pageMeta({ total, page, limit }: Page<unknown>): PageMeta {
  return { total, page, limit, pageCount: Math.ceil(total / limit) };
}
