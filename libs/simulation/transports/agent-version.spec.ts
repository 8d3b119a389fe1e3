import type { Failure } from '../timeline/failure.js';
import { PROTOCOLS } from './protocols.js';
import { StubClient } from './wires/testing/stub-client.js';

const KEY = 'key_1234567890';
const { signal } = new AbortController();

describe('the version of an agent that its platform uses', () => {
  const URL = 'https://platform.example.com/hook';
  const versionOf = (client: StubClient, protocol: string, assistantVersion?: string) =>
    PROTOCOLS.of(protocol).agentVersion!(
      { assistantId: 'agent/1', ...(assistantVersion !== undefined && { assistantVersion }) },
      {
        endpoint: { protocol, url: URL, headers: {}, firstSpeaker: null, options: {}, apiKey: KEY },
        ...{ client, signal },
      },
    );

  // The typings of retell-sdk 5.66.1, @vapi-ai/server-sdk 2.0.1 and @elevenlabs/elevenlabs-js have these fields.
  it.each([
    ['retell-text', undefined, { version: 12 }, '12', '/hook/get-agent/agent%2F1'],
    ['retell-text', undefined, { version: 0 }, '0', '/hook/get-agent/agent%2F1'],
    ['retell-text', '3', { version: 3 }, '3', '/hook/get-agent/agent%2F1?version=3'],
    ['retell-text', undefined, {}, null, '/hook/get-agent/agent%2F1'],
    ['elevenlabs', undefined, { version_id: 'agtvrsn_9', branch_id: 'agtbrch_1' }, 'agtvrsn_9', undefined],
    ['elevenlabs-text', undefined, { version_id: null }, null, '/hook/v1/convai/agents/agent%2F1'],
    [
      'elevenlabs',
      'agtbrch_7',
      { version_id: 'agtvrsn_4' },
      'agtvrsn_4',
      '/hook/v1/convai/agents/agent%2F1?branch_id=agtbrch_7',
    ],
    ['vapi', undefined, { latestVersion: 'v3' }, 'v3', '/hook/assistant/agent%2F1'],
    ['vapi', undefined, { latestVersion: null }, null, '/hook/assistant/agent%2F1'],
    // A chat has no field for a version.
    ['vapi-chat', 'v1', { latestVersion: 'v3' }, 'v3', '/hook/assistant/agent%2F1'],
    ['retell-text', undefined, { version: { number: 1 } }, null, undefined],
    ['vapi', undefined, { latestVersion: ' ' }, null, undefined],
    ['vapi', undefined, { latestVersion: 'v'.repeat(256) }, null, undefined],
  ])('%s, asked for %j: %j', async (protocol, asked, body, version, path) => {
    const client = new StubClient(JSON.stringify(body));
    expect(await versionOf(client, protocol, asked)).toBe(version);
    if (path !== undefined) expect(client.requests.map(({ url }) => url.replace(URL, '/hook'))).toEqual([path]);
  });

  it('is the one that a call of Vapi asks for, without a request', async () => {
    const client = new StubClient('{}');
    expect([await versionOf(client, 'vapi', 'v2'), client.requests]).toEqual(['v2', []]);
  });

  it.each(['retell-text', 'elevenlabs', 'vapi'])(
    'of %s is unknown while the platform refuses the key or fails',
    async (protocol) => {
      const failed = (status: number) =>
        versionOf(new StubClient('{"message":"no"}', status), protocol).catch(
          ({ failure }: { failure: Failure }) => failure.retryable,
        );
      expect([await failed(401), await failed(503)]).toEqual([false, true]);
    },
  );

  it('does not exist where agents are reached without a platform that has versions', () => {
    const without = PROTOCOLS.all.filter(({ agentVersion }) => !agentVersion).map(({ name }) => name);
    expect(without).toEqual(
      expect.arrayContaining(['chat-completions', 'twilio-media-streams', 'openai-realtime', 'pipecat']),
    );
  });
});
