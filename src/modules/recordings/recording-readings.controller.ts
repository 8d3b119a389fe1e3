import { Controller, Get, Query } from '@nestjs/common';
import { CurrentCaller } from '../../platform/access/access.decorators.js';
import type { Caller } from '../../platform/access/caller.js';
import type { Page } from '../../platform/database/page.js';
import { Operation } from '../../platform/openapi/operation.decorator.js';
import { RecordingReading, RecordingReadingsQuery } from './dto/recording-readings.dtos.js';
import { RecordingsService } from './recordings.service.js';

@Controller('workspace/recording-readings')
export class RecordingReadingsController {
  constructor(private readonly service: RecordingsService) {}

  @Operation({
    summary: 'List who heard production calls',
    description:
      'Each time that sound of a production call was sent: the recording or parts of it, or a report that has it. Newest first, one entry for the requests of a key for a call in one minute, for 400 days, also after the call or its agent was deleted.',
    tag: 'Workspace settings',
    access: 'ADMIN',
    query: true,
    response: { shape: 'page', type: RecordingReading, message: 'Readings retrieved successfully' },
  })
  @Get()
  listRecordingReadings(
    @CurrentCaller() caller: Caller,
    @Query() query: RecordingReadingsQuery,
  ): Promise<Page<RecordingReading>> {
    return this.service.readings(caller, query);
  }
}
