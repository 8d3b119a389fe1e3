/** A thread that makes voice calls on the virtual clock: it answers each cell that it receives with a `Replay`. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { type MessagePort, parentPort } from 'node:worker_threads';
import { remeasured, VoiceCalls } from '../simulators/agent/testing/voice.js';
import { makeCall } from './replay-call.js';
import type { ReplayCell } from './replay-cells.js';
import { decisionOf, type Replay } from './replay-hashes.js';

async function replay(voiceCalls: VoiceCalls, cell: ReplayCell): Promise<Replay> {
  const [audio, wire] = [createHash('sha256'), createHash('sha256')];
  const { result, definition, stored } = await makeCall(voiceCalls, cell, {
    audio: (stereo) => void audio.update(stereo),
    wire: (lines) => lines.forEach((line) => wire.update(`${line}\n`)),
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
