import { Injectable, type PipeTransform } from '@nestjs/common';
import { InputPipe } from '../../../platform/http/dto/validation.pipe.js';
import { about, invalidInput } from '../../../platform/errors/domain-error.js';
import { ofRun } from '../run-issues.js';
import { ScheduledRun, type UpdateScheduleRequest } from './schedule.requests.js';

const MAX_BYTES = 65_536;

/** Checks `run` of a valid body as if it were the body of a request that starts a run. */
@Injectable()
export class ScheduledRunPipe implements PipeTransform {
  private readonly pipe = new InputPipe();

  /** @throws DomainError BAD_REQUEST */
  async transform<Body extends UpdateScheduleRequest>(body: Body): Promise<Body> {
    if (body.run === undefined) return body;
    if (Buffer.byteLength(JSON.stringify(body.run)) > MAX_BYTES) {
      throw invalidInput(about('run', `must have at most ${MAX_BYTES} bytes`));
    }
    const run = await ofRun(() => this.pipe.transform(body.run, { type: 'body', metatype: ScheduledRun }));
    return { ...body, run: run as ScheduledRun };
  }
}
