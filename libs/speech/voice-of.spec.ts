import { voiceOf } from './voice-of.js';

const settings = { gender: 'FEMALE', accent: '', voice_id: '', provider: 'PERSONALITY_PROVIDER_1' } as const;

describe('voiceOf', () => {
  it.each([
    ['FEMALE', '', 'slt'],
    ['FEMALE', 'American', 'slt'],
    ['MALE', '', 'rms'],
    ['MALE', 'US English', 'rms'],
    ['MALE', 'en-US', 'rms'],
    ['MALE', 'Scottish', 'awb'],
    ['MALE', 'from Scotland', 'awb'],
  ] as const)('speaks as %s with the accent "%s" with %s, without a warning', (gender, accent, voice) => {
    expect(voiceOf({ ...settings, gender, accent })).toEqual({ voice });
  });

  it.each([
    ['FEMALE', 'Scottish', 'slt'],
    ['FEMALE', 'Indian', 'slt'],
    ['MALE', 'Australian', 'rms'],
    ['MALE', 'British', 'rms'],
  ] as const)('has a warning for %s with the accent "%s"', (gender, accent, voice) => {
    const chosen = voiceOf({ ...settings, gender, accent });
    expect(chosen.voice).toBe(voice);
    expect(chosen.warning).toContain(`no embedded ${gender.toLowerCase()} voice with the accent "${accent}"`);
  });

  it('prefers an embedded voice that voice_id names', () => {
    for (const voice of ['slt', 'rms', 'awb', 'kal', 'kal16']) {
      expect(voiceOf({ ...settings, accent: 'Indian', voice_id: ` ${voice.toUpperCase()} ` })).toEqual({ voice });
    }
  });

  it('falls back on gender and accent for another voice_id, with a warning', () => {
    expect(voiceOf({ ...settings, gender: 'MALE', accent: 'Scottish', voice_id: 'voice-1' })).toEqual({
      voice: 'awb',
      warning: 'voice_id "voice-1" is not an embedded voice (slt, rms, awb, kal, kal16), so gender and accent choose',
    });
    expect(voiceOf({ ...settings, voice_id: 'toString' }).voice).toBe('slt');
  });

  it('names both faults', () => {
    const { warning } = voiceOf({ ...settings, accent: 'Irish', voice_id: 'x' });
    expect(warning).toContain('voice_id "x"');
    expect(warning).toContain('"Irish"');
  });
});
