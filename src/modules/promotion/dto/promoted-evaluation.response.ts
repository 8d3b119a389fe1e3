import { ApiProperty } from '@nestjs/swagger';
import { Evaluation } from '../../evaluations/dto/evaluation.response.js';

/** An evaluation that was made from a call. */
export class PromotedEvaluation extends Evaluation {
  @ApiProperty({
    type: [String],
    description:
      'Names of its checks that do not fail on the call itself, as the evaluation has it; checks of times and sound, and criteria, are not evaluated',
    example: [],
  })
  notFailing: readonly string[];
}
