import { Controller, Get, Headers, Param, Res, type StreamableFile } from '@nestjs/common';
import { ApiHeader } from '@nestjs/swagger';
import type { Response } from 'express';
import { CurrentCaller } from '../../../platform/access/access.decorators.js';
import type { Caller } from '../../../platform/access/caller.js';
import { lifetimeSignal } from '../../../platform/http/responses/close-signal.js';
import { streamedFile } from '../../../platform/http/responses/streamed-file.js';
import { Operation } from '../../../platform/openapi/operation.decorator.js';
import { KeyWatchService } from '../../api-keys/key-watch.service.js';
import { RunEventsService } from './run-events.service.js';

const EXAMPLE = `event: call
data: {"id":"7c9e4b1a-2d56-4f83-b0a7-e3d8f6519c24","evaluationName":"Books a table for four","repetition":1,"status":"ENDED","outcome":"passed","score":100}

event: run
id: 4711
data: {"id":"1d8c6b4f-90e3-4a57-b2d1-7f5a3e8c0946","status":"RUNNING","counts":{"passed":1,"pending":11}}

`;

@Controller()
export class RunEventsController {
  constructor(
    private readonly service: RunEventsService,
    private readonly keys: KeyWatchService,
  ) {}

  @Operation({
    summary: 'Follow a run',
    description:
      'Server-sent events until the run ends or the API key is revoked or expires: `run` at the start, on every change and at the end; `call` for every call that changed. `Last-Event-ID` resumes the stream; a call may then be delivered twice.',
    tag: 'Runs',
    access: 'VIEWER',
    path: { id: 'Identifier of the run' },
    response: {
      shape: 'file',
      message: 'The events',
      content: { 'text/event-stream': { schema: { type: 'string' }, example: EXAMPLE } },
    },
  })
  @ApiHeader({
    name: 'Last-Event-ID',
    required: false,
    description: 'The last received id; earlier events are not sent again',
    schema: { type: 'string', pattern: '^\\d{1,18}$' },
  })
  @Get('runs/:id/events')
  async followRun(
    @CurrentCaller() caller: Caller,
    @Param('id') id: string,
    @Headers('last-event-id') lastEventId: string | undefined,
    @Res({ passthrough: true }) response: Response,
  ): Promise<StreamableFile> {
    const signal = lifetimeSignal(response, this.keys.watch(caller));
    const events = await this.service.follow(caller, id, lastEventId, signal);
    // Proxies must neither cache nor buffer the stream.
    response.setHeader('Cache-Control', 'no-cache, no-transform').setHeader('X-Accel-Buffering', 'no');
    // A HEAD request must not wait for the end of the run.
    const parts = response.req.method === 'HEAD' ? firstOf(events) : events;
    return streamedFile(parts, { type: 'text/event-stream', name: 'Event stream' }, response);
  }
}

/** Yields the first event and closes the stream. */
async function* firstOf(events: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const event of events) {
    yield event;
    return;
  }
}
