import type { EvaluationInput } from '../../libs/evaluation-definition/index.js';
import {
  evaluationOf,
  type RecordedVoiceCall,
  type VoiceCalls,
  voiceOfCell,
} from '../simulators/agent/testing/voice.js';
import type { CallResult, RecordingSink } from '../../libs/simulation/index.js';
import type { ReplayCell } from './replay-cells.js';

/** A call on the virtual clock, with what is stored of it. */
export interface ReplayCall {
  readonly result: CallResult;
  readonly definition: EvaluationInput;
  readonly stored: RecordedVoiceCall;
}

/** @param sink also gets what is recorded */
export async function makeCall(
  voiceCalls: VoiceCalls,
  cell: ReplayCell,
  sink: Partial<RecordingSink> = {},
): Promise<ReplayCall> {
  const { fault, packetLossPercent, platform, stall } = cell;
  const evaluation = evaluationOf(cell);
  const conditions = { ...evaluation.conditions, ...(packetLossPercent && { packetLossPercent }) };
  const definition = { ...evaluation, conditions };
  const stored: RecordedVoiceCall = { audio: [], facts: '', ...(platform === 'pipecat' && { rate: 24_000 }) };
  const recording: RecordingSink = {
    audio: (stereo) => {
      sink.audio?.(stereo);
      stored.audio.push(stereo);
    },
    wire: (lines) => sink.wire?.(lines),
    facts: (json) => (stored.facts = json),
  };
  if (platform === 'sip') {
    const line = { jitterMs: 60, lossPercent: 2 };
    const result = await voiceCalls.callSip(definition, voiceOfCell(cell), { fault, recording, line });
    return { result, definition, stored };
  }
  const result =
    platform === 'pipecat'
      ? await voiceCalls.callPipecat(definition, voiceOfCell(cell), { fault, recording })
      : await voiceCalls.call(definition, voiceOfCell(cell), { fault, ...(stall && { stalls: [stall] }), recording });
  return { result, definition, stored };
}
