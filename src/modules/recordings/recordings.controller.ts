import { Controller, Get, Param, Req, Res, type StreamableFile } from '@nestjs/common';
import type { Request, Response } from 'express';
import { CurrentCaller } from '../../platform/access/access.decorators.js';
import type { Caller } from '../../platform/access/caller.js';
import { rangedFile } from '../../platform/http/responses/ranged-file.js';
import { Operation } from '../../platform/openapi/operation.decorator.js';
import { AUDIO_CONTENT } from '../../platform/openapi/page-content.js';
import { RecordingsService } from './recordings.service.js';

const tag = 'Runs';
const path = { id: 'Identifier of the call' };

const WIRE_EXAMPLE = [
  '{"atMs":0,"direction":"sent","message":{"event":"connected","protocol":"Call","version":"1.0.0"}}',
  '{"atMs":20,"direction":"sent","message":{"event":"media","media":{"payload":{"bytes":160,"sha256":"5feceb66ffc86f38"}}}}',
  '',
].join('\n');

@Controller('calls/:id')
export class RecordingsController {
  constructor(private readonly service: RecordingsService) {}

  @Operation({
    summary: 'Get the recording of a call',
    description:
      'The audio of the attempt that counts as WAV with two channels: left the caller as it was sent, right the agent as it was heard. 404 for a text call, or after the recording was deleted. Of production calls, it needs an EDITOR key, and is listed in `GET /workspace/recording-readings`. One `Range` is served.',
    tag,
    access: 'VIEWER',
    path,
    response: {
      shape: 'file',
      message: 'The file',
      hasRanges: true,
      content: AUDIO_CONTENT,
    },
  })
  @Get('recording')
  async getRecording(
    @CurrentCaller() caller: Caller,
    @Param('id') id: string,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<StreamableFile | undefined> {
    const reader = { ...caller, requestId: request.id };
    const { id: tag, paths, beforeSending } = await this.service.get(reader, id);
    const file = { path: paths.audio, type: 'audio/wav', tag, name: 'Recording', beforeSending };
    return rangedFile(file, request, response);
  }

  @Operation({
    summary: 'Get the wire log of a call',
    description:
      'The messages of the protocol in both directions, in the attempt that counts: one JSON object per line, audio replaced by its length and hash. 404 for a text call, or after its recording was deleted. Of production calls, it needs an EDITOR key.',
    tag,
    access: 'VIEWER',
    path,
    response: {
      shape: 'file',
      message: 'The file',
      hasRanges: true,
      content: { 'application/x-ndjson': { schema: { type: 'string' }, example: WIRE_EXAMPLE } },
    },
  })
  @Get('wire')
  async getWireLog(
    @CurrentCaller() caller: Caller,
    @Param('id') id: string,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<StreamableFile | undefined> {
    const { id: recording, paths } = await this.service.get(caller, id);
    return rangedFile(
      { path: paths.wire, type: 'application/x-ndjson', tag: recording, name: 'Wire log' },
      request,
      response,
    );
  }
}
