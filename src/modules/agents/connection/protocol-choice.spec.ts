import { chooseProtocol } from './protocol-choice.js';

const TEXT = 'chat-completions';
const VOICE = 'twilio-media-streams';
const setting = 'AGENT_PROVIDER_2_PROTOCOL';

describe('chooseProtocol', () => {
  it.each([
    { own: TEXT, provider: VOICE, wanted: undefined, protocol: TEXT, medium: 'text' },
    { own: VOICE, provider: TEXT, wanted: undefined, protocol: VOICE, medium: 'voice' },
    { own: VOICE, provider: TEXT, wanted: null, protocol: VOICE, medium: 'voice' },
    { own: TEXT, provider: VOICE, wanted: 'text', protocol: TEXT, medium: 'text' },
    { own: VOICE, provider: TEXT, wanted: 'voice', protocol: VOICE, medium: 'voice' },
  ] as const)('takes the own connection with $own for $wanted, not $provider of the settings', (row) => {
    const { own, provider, wanted, protocol, medium } = row;
    expect(chooseProtocol({ own, provider, setting }, wanted)).toEqual({ protocol, medium });
  });

  it.each([
    { provider: TEXT, wanted: undefined, medium: 'text' },
    { provider: VOICE, wanted: undefined, medium: 'voice' },
    { provider: TEXT, wanted: 'text', medium: 'text' },
    { provider: VOICE, wanted: 'voice', medium: 'voice' },
  ] as const)('takes $provider of the settings for $wanted without an own connection', (row) => {
    const { provider, wanted, medium } = row;
    expect(chooseProtocol({ own: null, provider, setting }, wanted)).toEqual({ protocol: provider, medium });
  });

  it('refuses a medium that the own connection does not have, whatever the settings have', () => {
    const refusal =
      "medium is voice, and the protocol of the agent's connection, chat-completions, is for text calls: leave medium " +
      'out, or set a connection with a protocol for voice calls (twilio-media-streams, openai-realtime, elevenlabs)';
    for (const provider of [TEXT, VOICE] as const)
      expect(chooseProtocol({ own: TEXT, provider, setting }, 'voice')).toEqual({ refusal });
  });

  it('refuses a medium that the settings do not have', () => {
    const refusal =
      'medium is text, and the protocol of AGENT_PROVIDER_2_PROTOCOL, twilio-media-streams, is for voice calls: leave ' +
      'medium out, or set a connection with a protocol for text calls (chat-completions, elevenlabs-text)';
    expect(chooseProtocol({ own: null, provider: VOICE, setting }, 'text')).toEqual({ refusal });
  });
});
