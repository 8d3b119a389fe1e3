import { Controller, Param, Post } from '@nestjs/common';
import { CurrentCaller } from '../../platform/access/access.decorators.js';
import type { Caller } from '../../platform/access/caller.js';
import { FileBody } from '../../platform/http/body/text-body.js';
import { EXAMPLE_ID } from '../../platform/http/dto/example-ids.js';
import { AlternateResponse } from '../../platform/http/responses/envelope.js';
import { Operation } from '../../platform/openapi/operation.decorator.js';
import { CallDetails } from '../calls/dto/call.responses.js';
import { CallImportGate, type ImportForm } from './call-import.gate.js';
import { CallImportsService } from './call-imports.service.js';
import { ImportReader } from './import-reader.js';
import { FIELD_BYTES, ImportCallRequest, MAX_RECORDING } from './dto/import-call.request.js';

@Controller('agents/:id/calls')
export class CallImportsController {
  constructor(
    private readonly service: CallImportsService,
    private readonly reader: ImportReader,
  ) {}

  @Operation({
    summary: 'Import a call',
    description:
      'Takes the recording of a call that the service did not make, for instance from production, and measures it as a call of an evaluation, in a run of its own. Its caller is heard in its channel as the agent is in its own, so that times that depend on the caller have a `plusMinusMs`. What a recording does not show is null, and checks on it are undecided: when audio was sent, gaps in the playout, messages of a protocol, tool calls, keys, who hung up. Words are those of the transcript; where it has none of the agent, the transcription server hears the agent, unless `transcription` is `off`. The run sends no events, appears in no metrics of the agent, and no run is compared with it unless asked for.',
    tag: 'Runs',
    access: 'EDITOR',
    path: { id: 'Identifier of the agent' },
    form: {
      file: { name: 'recording', maxBytes: MAX_RECORDING },
      fields: FIELD_BYTES,
      gate: CallImportGate,
      type: ImportCallRequest,
      example: {
        recording: 'RIFF…',
        channels: 'caller-agent',
        evaluationId: EXAMPLE_ID.evaluation,
        startedAt: '2026-11-21T06:37:42.758Z',
        transcript: '[{"speaker":"agent","text":"Good evening.","startMs":420,"endMs":1310}]',
        externalId: 'CA5ef8732a3c49700934481addd5ce1659',
      },
    },
    response: {
      shape: 'data',
      type: CallDetails,
      message: 'Call accepted for import',
      status: 202,
      alternate: { status: 200, type: CallDetails, message: 'Call was imported before' },
    },
    errors: ['CONFLICT'],
  })
  @Post('import')
  async importCall(
    @CurrentCaller() caller: Caller,
    @Param('id') id: string,
    @FileBody() form: ImportForm,
  ): Promise<CallDetails | AlternateResponse> {
    const { call, isKnown } = await this.service.import(caller, id, await this.reader.read(form));
    return isKnown ? new AlternateResponse(call) : call;
  }
}
