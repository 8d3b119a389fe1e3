import { Controller, Delete, Param } from '@nestjs/common';
import { CurrentCaller } from '../../platform/access/access.decorators.js';
import type { Caller } from '../../platform/access/caller.js';
import { Operation } from '../../platform/openapi/operation.decorator.js';
import { RunDeletionService } from './run-deletion.service.js';

@Controller()
export class RetentionController {
  constructor(private readonly deletion: RunDeletionService) {}

  @Operation({
    summary: 'Delete a run',
    description:
      'Permanently deletes an ended run with its calls, transcripts, recordings and report links. They disappear from the metrics of the agent as well. Webhook deliveries about the run are kept until their own retention time has passed.',
    tag: 'Runs',
    access: 'ADMIN',
    path: { id: 'Identifier of the run' },
    response: { shape: 'message', message: 'Run deleted successfully' },
    errors: ['CONFLICT'],
  })
  @Delete('runs/:id')
  deleteRun(@CurrentCaller() caller: Caller, @Param('id') id: string): Promise<void> {
    return this.deletion.delete(caller, id);
  }
}
