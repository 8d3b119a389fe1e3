import { readFileSync } from 'node:fs';
import path from 'node:path';
import { sample } from '../../../libs/statistics/testing/sample.js';
import {
  guideEvaluation,
  isGuideFaultFound,
  spokenGuideAgent,
  spokenGuideFaults,
} from '../agent/voice/testing/guide-cells.js';
import { VoiceCalls } from '../agent/voice/testing/voice-call.js';

const GUIDE = readFileSync(path.resolve(__dirname, '../../../docs/guides/checks.md'), 'utf8');
const calls = new VoiceCalls();
afterAll(() => calls.close());

const call = async (fault?: string) => {
  const prepared = await spokenGuideAgent(calls.synthesiser, fault);
  return calls.callRealtime(guideEvaluation(GUIDE, 1), 'slt', { prepared });
};

describe('the checks of the guide for text calls, over OpenAI Realtime', () => {
  it('are passed by the healthy agent, whose latencies are right', async () => {
    const { outcome, reason, voice } = await call();
    expect({ outcome, reason }).toMatchObject({ outcome: 'passed' });
    // It answers 700 ms after the caller, at the next frame.
    for (const { heardMs } of voice!.voice.latencies) expect(Math.abs(heardMs! - 725)).toBeLessThanOrEqual(35);
    expect(voice!.voice.background).toBeNull();
  });

  it.each(sample(spokenGuideFaults(GUIDE)).map(({ name }) => name))('find the planted fault: %s', async (fault) => {
    const result = await call(fault);
    expect(result.outcome).toBe('failed');
    expect({ fault, isFound: isGuideFaultFound(fault, result) }).toEqual({ fault, isFound: true });
  });
});
