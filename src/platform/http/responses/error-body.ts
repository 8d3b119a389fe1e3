import { ApiProperty } from '@nestjs/swagger';
import { type DomainError, ERROR_CODES, type ErrorCode } from '../../errors/domain-error.js';

export class ErrorIssue {
  @ApiProperty({
    description: 'One cause; begins with the path of the field it is about',
    example: 'page must not be less than 1',
  })
  message: string;

  @ApiProperty({
    description: 'Path of the field, or name of the parameter; absent if the cause is not about one',
    example: 'page',
    required: false,
  })
  field?: string;
}

/** The flat error body of the contract. */
export class ErrorBody {
  @ApiProperty({ enum: ERROR_CODES, description: 'Machine-readable kind of the error' })
  code: ErrorCode;

  @ApiProperty({ description: 'One short English sentence' })
  message: string;

  @ApiProperty({ type: [ErrorIssue], required: false, description: 'The causes, one entry each' })
  issues?: ErrorIssue[];
}

export function errorBody({ code, message, issues }: DomainError): ErrorBody {
  return { code, message, ...(issues && { issues: [...issues] }) };
}
