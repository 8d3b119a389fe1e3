import { sip } from './index.js';
import { StubClient } from '../testing/stub-client.js';
import type { AgentEndpoint } from '../../modules/endpoint.js';

const records = sip.options['records']!;
const provided = (options: AgentEndpoint['options']) => sip.providedWith!(options).toolCalls;

describe('the option records', () => {
  it.each([
    ['vapi', 'vapi'],
    ['vapi:https://api.eu.vapi.ai', 'vapi'],
    ['retell', 'retell-text'],
    ['retell:http://127.0.0.1:8080/api', 'retell-text'],
  ])('%s gives the apiKey of the agent to %s, and tool calls are seen', (value, receiver) => {
    expect(records.violation(value)).toBeUndefined();
    expect(records.receivesSecrets!(value)).toBe(receiver);
    expect(provided({ records: value })).toBe('seen');
  });

  it.each([
    ...['', 'elevenlabs', 'elevenlabs-twilio:https://a.example', 'Vapi', 'vapi:', 'vapi:ftp://x', 'constructor'],
    ...['https://api.vapi.ai', 'vapi:https://user:pass@a.example', 7, null, {}, ['vapi']],
  ])('%j is refused', (value) => {
    expect(records.violation(value)).toMatch(/^must be vapi or retell; /);
    expect(provided({ records: value })).toBe('none');
  });

  it.each<[AgentEndpoint['options'], string]>([
    [{}, 'none'],
    [{ trigger: 'https://agent.example.com/call' }, 'none'],
    [{ trigger: 'elevenlabs' }, 'none'],
    [{ trigger: 'vapi' }, 'seen'],
    [{ trigger: 'retell:https://retell.example.com' }, 'seen'],
    [{ trigger: 'https://agent.example.com/call', records: 'vapi' }, 'seen'],
  ])('is not needed with a trigger of the same platform: %j', (options, expected) => {
    expect(provided(options)).toBe(expected);
  });
});

describe('the session of a call over SIP', () => {
  const URLS = ['https://api.vapi.ai/call', 'https://api.eu.vapi.ai/call'] as const;
  const session = (options: AgentEndpoint['options'], client = new StubClient('[]', 200)) => ({
    client,
    recorded: sip.session(
      {
        ...{ protocol: 'sip', url: 'sip:agent@sip.example.com', firstSpeaker: null, options, apiKey: 'key-1' },
        ...{ shownUrl: 'AGENT_PROVIDER_1_URL', headers: { 'x-pbx': 'of-the-pbx' } },
      },
      { client, assistantId: 'a-1', phoneNumber: '', workspaceId: 'w-1', callId: 'c-1' },
    ).recorded,
  });

  it('reads no records without the option', () => {
    expect(session({}).recorded).toBeUndefined();
    expect(session({ trigger: 'https://agent.example.com/call' }).recorded).toBeUndefined();
  });

  it.each([
    ['vapi', URLS[0]],
    ['vapi:https://api.eu.vapi.ai', URLS[1]],
  ])('reads those of %s with the apiKey, which get none of its headers', async (value, url) => {
    const { recorded, client } = session({ records: value });
    expect(await recorded!(AbortSignal.timeout(100))).toBeNull();
    const { url: asked, headers } = client.requests[0]!;
    expect(asked.split('?')[0]).toBe(url);
    expect(new URL(asked).searchParams.get('assistantId')).toBe('a-1');
    expect(JSON.stringify(headers)).toContain('key-1');
    expect(JSON.stringify(headers)).not.toContain('of-the-pbx');
  });

  it('names the address of the API, and not that of the agent, in what the platform refuses', async () => {
    const { recorded } = session({ records: 'vapi' }, new StubClient('{"message":"Invalid Key"}', 401));
    const refused = (await recorded!(AbortSignal.timeout(100)).catch((error: Error) => error)) as Error;
    expect(refused.message).toContain('api.vapi.ai');
    expect(refused.message).not.toContain('AGENT_PROVIDER_1_URL');
  });
});
