import { readMessage } from './messages.js';

const audio = (count: number, more: object = {}) =>
  JSON.stringify({
    type: 'audio',
    audio_event: {
      ...{ event_id: 1, audio_base_64: 'AAAA' },
      alignment: {
        chars: Array<string>(count).fill('a'),
        char_start_times_ms: Array<number>(count).fill(0),
        char_durations_ms: Array<number>(count).fill(1),
        ...more,
      },
    },
  });

describe('the places of characters in audio of ElevenLabs', () => {
  it('are read', () => {
    expect(readMessage(audio(2))).toMatchObject({ type: 'audio', alignment: [{ char: 'a' }, { char: 'a' }] });
  });

  // One thread carries all calls, and a message may have a million of them.
  it.each([
    ['are more than anybody says', audio(20_001)],
    ['are of different number', audio(2, { chars: ['a'] })],
    ['are not times', audio(2, { char_start_times_ms: [-1, 'x'] })],
  ])('are ignored if they %s, not the audio', (_what, text) => {
    const message = readMessage(text);
    expect(message).toMatchObject({ type: 'audio', base64: 'AAAA' });
    expect(message).not.toHaveProperty('alignment');
  });
});
