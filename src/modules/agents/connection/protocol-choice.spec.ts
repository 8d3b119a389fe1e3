import { PROTOCOLS } from '../../../../libs/simulation/index.js';
import { usePaidPlatform } from '../../../../libs/simulation/testing/paid-platform/register.js';
import { chooseProtocol, reachableBy } from './protocol-choice.js';

const TEXT = 'chat-completions';
const VOICE = 'twilio-media-streams';
const settings = 'AGENT_PROVIDER_2';
const named = (medium: string) => PROTOCOLS.names.filter((name) => PROTOCOLS.of(name).medium === medium).join(', ');
const none = { own: null, text: undefined, settings } as const;

usePaidPlatform();

describe('chooseProtocol', () => {
  it.each([
    { own: TEXT, provider: VOICE, wanted: undefined, protocol: TEXT, medium: 'text' },
    { own: VOICE, provider: TEXT, wanted: undefined, protocol: VOICE, medium: 'voice' },
    { own: VOICE, provider: TEXT, wanted: null, protocol: VOICE, medium: 'voice' },
    { own: TEXT, provider: VOICE, wanted: 'text', protocol: TEXT, medium: 'text' },
    { own: VOICE, provider: TEXT, wanted: 'voice', protocol: VOICE, medium: 'voice' },
    { own: 'paid-voice', provider: TEXT, wanted: undefined, protocol: 'paid-voice', medium: 'voice' },
    { own: 'paid-voice', provider: TEXT, wanted: 'text', protocol: 'paid-text', medium: 'text' },
    { own: 'paid-text', provider: VOICE, wanted: 'voice', protocol: 'paid-voice', medium: 'voice' },
  ] as const)('takes the own connection with $own or its twin for $wanted, not $provider of the settings', (row) => {
    const { own, provider, wanted, protocol, medium } = row;
    for (const text of [undefined, TEXT])
      expect(chooseProtocol({ own, provider, text, settings }, wanted)).toEqual({ protocol, medium });
  });

  it.each([
    { provider: TEXT, text: undefined, wanted: undefined, protocol: TEXT, medium: 'text' },
    { provider: VOICE, text: undefined, wanted: undefined, protocol: VOICE, medium: 'voice' },
    { provider: TEXT, text: undefined, wanted: 'text', protocol: TEXT, medium: 'text' },
    { provider: VOICE, text: undefined, wanted: 'voice', protocol: VOICE, medium: 'voice' },
    { provider: VOICE, text: TEXT, wanted: undefined, protocol: VOICE, medium: 'voice' },
    { provider: VOICE, text: TEXT, wanted: 'text', protocol: TEXT, medium: 'text' },
    { provider: VOICE, text: TEXT, wanted: 'voice', protocol: VOICE, medium: 'voice' },
    { provider: 'paid-voice', text: undefined, wanted: 'text', protocol: 'paid-text', medium: 'text' },
    { provider: 'paid-voice', text: TEXT, wanted: 'text', protocol: TEXT, medium: 'text' },
  ] as const)('takes $provider, $text of the settings for $wanted without an own connection', (row) => {
    const { provider, text, wanted, protocol, medium } = row;
    expect(chooseProtocol({ own: null, provider, text, settings }, wanted)).toEqual({ protocol, medium });
  });

  it('refuses a medium that neither the own connection nor its platform has, whatever the settings have', () => {
    const refusal =
      "medium is voice, and the protocol of the agent's connection, chat-completions, is for text calls, and there is " +
      'no protocol of the same platform for voice calls: leave medium out, or set a connection with a protocol for ' +
      `voice calls (${named('voice')})`;
    for (const provider of [TEXT, VOICE] as const)
      expect(chooseProtocol({ own: TEXT, provider, text: undefined, settings }, 'voice')).toEqual({ refusal });
  });

  it('refuses a medium that the settings do not have, and names both of them', () => {
    const refusal =
      'medium is text, and the protocol of AGENT_PROVIDER_2_PROTOCOL, twilio-media-streams, is for voice calls, and ' +
      'AGENT_PROVIDER_2_TEXT_PROTOCOL is not set: leave medium out, set AGENT_PROVIDER_2_TEXT_PROTOCOL, or set a ' +
      `connection with a protocol for text calls (${named('text')})`;
    expect(chooseProtocol({ ...none, provider: VOICE }, 'text')).toEqual({ refusal });
  });
});

describe('reachableBy', () => {
  it('has one protocol of each medium at most, the preferred one first', () => {
    expect(reachableBy({ ...none, provider: TEXT })).toEqual([TEXT]);
    expect(reachableBy({ ...none, provider: VOICE, text: TEXT })).toEqual([VOICE, TEXT]);
    expect(reachableBy({ ...none, own: 'paid-text', provider: VOICE, text: TEXT })).toEqual([
      'paid-text',
      'paid-voice',
    ]);
  });
});
