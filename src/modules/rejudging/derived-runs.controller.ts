import { Controller, Param, Post } from '@nestjs/common';
import { CurrentCaller } from '../../platform/access/access.decorators.js';
import type { Caller } from '../../platform/access/caller.js';
import { Operation } from '../../platform/openapi/operation.decorator.js';
import { EXAMPLE_ID } from '../../platform/http/dto/example-ids.js';
import { RunDetails } from '../runs/dto/run.responses.js';
import type { DerivedKind } from '../runs/run.entity.js';
import { DerivedRunsService } from './derived-runs.service.js';

/** The response of an operation that starts a derived run. */
const started = (name: string, kind: DerivedKind) => ({
  shape: 'data' as const,
  type: RunDetails,
  message: 'Run started successfully',
  status: 201 as const,
  example: {
    name,
    status: 'QUEUED',
    score: 0,
    startedAt: null,
    endedAt: null,
    derivedFrom: { runId: EXAMPLE_ID.run, kind },
  },
});

@Controller('runs/:id')
export class DerivedRunsController {
  constructor(private readonly service: DerivedRunsService) {}

  @Operation({
    summary: 'Measure a run again',
    description:
      'Starts a new run that judges the recorded voice calls of an ended run again, without calling the agent: times, measures, checks and outcomes are computed from the recordings by the definitions of this version of the service. Verdicts on criteria are taken over. The earlier run stays as it is, and the new one is compared with it; it sends no events, appears in no metrics of the agent, and no run is compared with it unless asked for. Calls without a recording are left out, with a warning; if none is left: 409.',
    tag: 'Runs',
    access: 'EDITOR',
    path: { id: 'Identifier of the run' },
    response: started('Remeasured: Nightly', 'remeasure'),
    errors: ['CONFLICT'],
  })
  @Post('remeasure')
  remeasureRun(@CurrentCaller() caller: Caller, @Param('id') id: string): Promise<RunDetails> {
    return this.service.remeasure(caller, id);
  }

  @Operation({
    summary: 'Judge a run again',
    description:
      "Starts a new run in which the language model judges the calls of an ended run again, without calling the agent: by today's text of the criteria (of a deleted evaluation: by the text then) and today's model; also whether callers without a script kept their role. Transcripts, measures and results of checks are those of the calls. Calls that no judge decided about, such as those that broke off, stay as they were. The earlier run stays as it is, and the new one is compared with it; it sends no events, appears in no metrics of the agent, and no run is compared with it unless asked for. Without a language model, or without anything to judge: 409.",
    tag: 'Runs',
    access: 'EDITOR',
    path: { id: 'Identifier of the run' },
    response: started('Rejudged: Nightly', 'rejudge'),
    errors: ['CONFLICT'],
  })
  @Post('rejudge')
  rejudgeRun(@CurrentCaller() caller: Caller, @Param('id') id: string): Promise<RunDetails> {
    return this.service.rejudge(caller, id);
  }
}
