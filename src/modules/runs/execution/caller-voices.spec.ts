import { tmpdir } from 'node:os';
import type { Settings } from '../../../platform/config/settings.js';
import type { CallMetrics } from './call-metrics.js';
import { CallerVoices } from './caller-voices.js';

describe('what a call needs of its personality', () => {
  const metrics = { observeSynthesis: () => undefined } as unknown as CallMetrics;
  const voices = new CallerVoices({ dataDir: tmpdir() } as Settings, metrics);
  afterAll(() => voices.onApplicationShutdown());

  it('says whether the caller interrupts, which callers of earlier versions do not', async () => {
    const voice = { gender: 'MALE', accent: '', voice_id: '', provider: 'any', backgroundNoise: false } as const;
    const interrupts = async (more: object) =>
      (await voices.options('w', { ...voice, ...more }, { conditions: {} })).interrupts;
    expect(await interrupts({ interrupts: 'sometimes' })).toBe(true);
    expect(await interrupts({ interrupts: 'never' })).toBe(false);
    expect(await interrupts({})).toBe(false);
    expect((await voices.options('w', undefined, { conditions: {} })).interrupts).toBe(false);
  });
});
