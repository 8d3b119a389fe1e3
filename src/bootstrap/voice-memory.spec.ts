import { voiceMemoryWarning } from './voice-memory.js';

const GIB = 1024 ** 3;

describe('voiceMemoryWarning', () => {
  it('warns if voice calls may need more than half of the memory', () => {
    expect(voiceMemoryWarning({ role: 'worker', voiceConcurrency: 65 }, 2 * GIB)).toBe(
      'VOICE_CONCURRENCY=65 voice calls may need 1040 MiB, more than half of the memory (2048 MiB): set it lower',
    );
  });

  it('says nothing up to half of the memory, or in a process without calls', () => {
    expect(voiceMemoryWarning({ role: 'all', voiceConcurrency: 64 }, 2 * GIB)).toBeUndefined();
    expect(voiceMemoryWarning({ role: 'api', voiceConcurrency: 1_000 }, 2 * GIB)).toBeUndefined();
  });
});
