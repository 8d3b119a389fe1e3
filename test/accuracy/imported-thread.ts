/** A thread that imports the recordings of voice calls: it answers each cell that it receives with its `RoundTrip`s. */
import { once } from 'node:events';
import { parentPort } from 'node:worker_threads';
import { imported, type RoundTrip, roundTripOf, VoiceCalls } from '../simulators/agent/testing/voice.js';
import { makeCall } from './replay-call.js';
import type { ReplayCell } from './replay-cells.js';

const voiceCalls = new VoiceCalls();
await voiceCalls.prepare();
parentPort!.postMessage('ready');
for (;;) {
  const [cell] = (await once(parentPort!, 'message')) as [ReplayCell];
  const { result, definition, stored } = await makeCall(voiceCalls, cell);
  // Without a call there is no recording.
  const trips: RoundTrip[] = result.voice ? roundTripOf(result, await imported(result, definition, stored)) : [];
  parentPort!.postMessage(trips);
}
