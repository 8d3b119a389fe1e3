/** A thread that makes voice calls on the virtual clock: it answers each cell that it receives with a `Replay`. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { type MessagePort, parentPort } from 'node:worker_threads';
import {
  evaluationOf,
  type RecordedVoiceCall,
  remeasured,
  VoiceCalls,
  voiceOfCell,
} from '../../libs/reference-agent/testing/voice.js';
import type { ReplayCell } from './replay-cells.js';
import { decisionOf, type Replay } from './replay-hashes.js';

async function replay(voiceCalls: VoiceCalls, cell: ReplayCell): Promise<Replay> {
  const { fault, packetLossPercent, stall } = cell;
  const evaluation = evaluationOf(cell);
  const conditions = { ...evaluation.conditions, ...(packetLossPercent && { packetLossPercent }) };
  const stored: RecordedVoiceCall = { audio: [], facts: '' };
  const [audio, wire] = [createHash('sha256'), createHash('sha256')];
  const definition = { ...evaluation, conditions };
  const result = await voiceCalls.call(definition, voiceOfCell(cell), {
    fault,
    ...(stall && { stalls: [stall] }),
    recording: {
      audio: (stereo) => {
        audio.update(stereo);
        stored.audio.push(stereo);
      },
      wire: (lines) => lines.forEach((line) => wire.update(`${line}\n`)),
      facts: (json) => (stored.facts = json),
    },
  });
  const decision = createHash('sha256').update(decisionOf(result));
  return {
    ms: result.measures.durationMs,
    isRemeasuredAlike: decisionOf(await remeasured(result, definition, stored)) === decisionOf(result),
    hashes: { recording: audio.digest('hex'), wire: wire.digest('hex'), decision: decision.digest('hex') },
  };
}

async function serve(port: MessagePort): Promise<never> {
  const voiceCalls = new VoiceCalls();
  await voiceCalls.prepare();
  port.postMessage('ready');
  for (;;) {
    const [cell] = (await once(port, 'message')) as [ReplayCell];
    port.postMessage(await replay(voiceCalls, cell));
  }
}

await serve(parentPort!);
