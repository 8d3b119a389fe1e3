import { callerLanguages, callerVoice, type ServerVoices } from './caller-voice.js';

const settings = { gender: 'FEMALE', accent: '', voice_id: '', provider: 'PERSONALITY_PROVIDER_1' } as const;
const kokoro: ServerVoices = {
  setting: 'TTS',
  voices: { FEMALE: 'ef_dora', MALE: 'em_alex' },
  languages: ['en', 'es'],
};
const german: ServerVoices = { setting: 'PERSONALITY_PROVIDER_2_TTS', voices: { MALE: 'thorsten' }, languages: ['de'] };
const servers = { PERSONALITY_PROVIDER_1: kokoro, PERSONALITY_PROVIDER_2: german };
const second = { ...settings, provider: 'PERSONALITY_PROVIDER_2' } as const;

describe('callerVoice', () => {
  it('is of the speech server of the provider, by gender', () => {
    const platformVoice = 'em_alex';
    expect(callerVoice(settings, 'es-MX', servers)).toEqual({ server: kokoro, voice: 'ef_dora', platformVoice });
    const male = { ...settings, gender: 'MALE' } as const;
    expect(callerVoice(male, 'en-US', servers)).toEqual({ server: kokoro, voice: 'em_alex', platformVoice });
  });

  it('is the one that voice_id names on the server, whatever gender and accent say', () => {
    const named = { ...settings, voice_id: ' slt ', accent: 'Scottish' };
    expect(callerVoice(named, 'en', servers)).toMatchObject({ server: kokoro, voice: 'slt' });
    expect(callerVoice(named, 'en', servers)).not.toHaveProperty('warning');
  });

  it('has a warning where the server has no voice of the gender, or an accent is wanted', () => {
    const chosen = callerVoice({ ...second, accent: 'Bavarian' }, 'de-DE', servers);
    expect(chosen).toMatchObject({ server: german, voice: 'thorsten', platformVoice: 'thorsten' });
    expect(chosen?.warning).toBe(
      'PERSONALITY_PROVIDER_2_TTS_VOICE_FEMALE is not set, so the caller speaks with the voice "thorsten"; ' +
        'accent has no effect on the voices of a speech server; voice_id names one',
    );
  });

  it('is an embedded one for English that the server does not speak, and without a server', () => {
    expect(callerVoice(second, 'en-GB', servers)).toEqual({ server: undefined, voice: 'slt', platformVoice: 'rms' });
    expect(callerVoice(settings, 'en-US', {})).toEqual({ server: undefined, voice: 'slt', platformVoice: 'rms' });
    expect(callerVoice({ ...settings, provider: 'PERSONALITY_PROVIDER_3' }, 'en', servers)?.server).toBeUndefined();
  });

  it('is none for a language that nothing speaks', () => {
    expect(callerVoice(settings, 'de', servers)).toBeUndefined();
    expect(callerVoice(settings, 'de', {})).toBeUndefined();
    expect(callerVoice(second, 'fr', servers)).toBeUndefined();
  });
});

describe('callerLanguages', () => {
  it('names what is spoken, and the setting that adds to it', () => {
    expect(callerLanguages('PERSONALITY_PROVIDER_1', servers)).toEqual({
      languages: ['en', 'es'],
      cure: 'TTS_LANGUAGES names what the speech server speaks',
    });
    const { languages, cure } = callerLanguages('PERSONALITY_PROVIDER_2', servers);
    expect(languages).toEqual(['en', 'de']);
    expect(cure).toMatch(/^PERSONALITY_PROVIDER_2_TTS_LANGUAGES /);
    expect(callerLanguages('PERSONALITY_PROVIDER_3', servers)).toEqual({
      languages: ['en'],
      cure: 'TTS_BASE_URL and TTS_LANGUAGES add a speech server',
    });
  });
});
