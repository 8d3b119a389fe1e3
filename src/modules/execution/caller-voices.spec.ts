import { tmpdir } from 'node:os';
import type { Settings } from '../../platform/config/settings.js';
import type { EvaluationSnapshot } from '../runs/run-evaluation.entity.js';
import type { CallMetrics } from './call-metrics.js';
import { CallerVoices } from './caller-voices.js';

describe('what a call needs of its personality', () => {
  const metrics = { observeSynthesis: () => undefined } as unknown as CallMetrics;
  const voices = new CallerVoices(
    { dataDir: tmpdir(), speechServers: { providers: {} } } as unknown as Settings,
    metrics,
  );
  afterAll(() => voices.onApplicationShutdown());

  it('says whether the caller interrupts, which callers of earlier versions do not', async () => {
    const voice = { gender: 'MALE', accent: '', voice_id: '', provider: 'any', backgroundNoise: false } as const;
    const optionsOf = (own: object | undefined) => {
      const snapshot = { personality: { voice: own }, language: 'en' } as unknown as EvaluationSnapshot;
      return voices.options('w', snapshot, { conditions: {} });
    };
    expect(await optionsOf({ ...voice, interrupts: 'sometimes' })).toMatchObject({ interrupts: true });
    expect(await optionsOf({ ...voice, interrupts: 'never' })).toMatchObject({ interrupts: false });
    expect(await optionsOf(voice)).toMatchObject({ interrupts: false });
    expect(await optionsOf(undefined)).toMatchObject({ interrupts: false });
  });
});
