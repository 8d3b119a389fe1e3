import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { executeCall, transportTo } from '../../libs/simulation/index.js';
import { normalise } from '../../libs/evaluation-definition/index.js';
import { OutboundClient } from '../../libs/outbound-http/index.js';
import type { CompletionAnswer } from '../simulators/retell/messages.js';
import { RetellServer } from '../simulators/retell/server.js';
import { formsOfSecret } from '../support/secret-forms.js';
import { compilerErrors } from '../support/vendor-types.js';

const FOLDER = path.resolve(__dirname, '../retell-agent');
const TYPES = path.join(FOLDER, 'node_modules/retell-sdk/resources/playground');
const isInstalled = existsSync(`${TYPES}.d.ts`);
const mustRun = process.env['REQUIRE_ALL_TESTS'] === 'true';
if (!isInstalled && !mustRun) {
  console.warn(
    'Skipped: the SDK of Retell, because it is not installed (cd test/retell-agent && npm ci --ignore-scripts)',
  );
}
const KEY = 'key_of_the_test_1234567890';
const AGENT = 'agent_01';
const ANSWER: CompletionAnswer = {
  messages: [
    { role: 'agent', content: 'One moment.', message_id: 'm1', created_timestamp: 1_764_000_000_000 },
    { role: 'tool_call_invocation', tool_call_id: 't1', name: 'find_table', arguments: '{"people":4}' },
    { role: 'tool_call_result', tool_call_id: 't1', content: '{"table":7}', successful: true },
    { role: 'node_transition', new_node_id: 'node-2', transition_type: 'normal' },
    { role: 'agent', content: 'Table 7.' },
  ],
  call_ended: false,
  current_node_id: 'node-2',
  current_state: 'booking',
  dynamic_variables: { people: '4' },
};
const RESULTS = [
  { tool: 'find_table', arguments: { people: 4 }, result: { table: 7 } },
  { tool: 'transfer', result: true },
];

/** What the compiler finds wrong with values, by the typings of the SDK. */
function typeErrors(values: readonly (readonly [type: string, value: unknown])[]): string[] {
  const folder = mkdtempSync(path.join(tmpdir(), 'retell-types-'));
  const lines = values.map(
    ([type, value], index) => `export const v${index}: types.${type} = ${JSON.stringify(value)};`,
  );
  const found = compilerErrors(path.join(folder, 'values.ts'), `${TYPES}.js`, lines);
  rmSync(folder, { recursive: true });
  return found;
}

(isInstalled || mustRun ? describe : describe.skip)('the SDK of Retell', () => {
  let double: RetellServer;

  beforeAll(async () => {
    const agents = [{ id: AGENT, name: 'Bella Vista', language: 'it-IT' }];
    double = await RetellServer.start({ apiKey: KEY, agentId: AGENT, agents, answer: () => ANSWER });
  });
  afterAll(() => double.stop());

  async function callWithService(): Promise<void> {
    const endpoint = {
      protocol: 'retell-text',
      url: double.url,
      headers: {},
      firstSpeaker: null,
      options: {},
      apiKey: KEY,
    };
    const result = await executeCall({
      definition: normalise({ script: [{ say: 'A table for four.' }, { say: 'Thanks.' }, { end: 'Done' }] }),
      scenario: { scenarioText: '' },
      personality: { name: 'Caller' },
      transport: transportTo(endpoint, {
        client: new OutboundClient({ allowedNetworks: ['127.0.0.0/8'] }),
        ...{
          assistantId: AGENT,
          phoneNumber: '',
          workspaceId: 'w-1',
          callId: 'c-1',
          variables: { people: 4 },
          toolResults: RESULTS,
        },
      }),
    });
    expect(result.outcome).toBe('passed');
  }

  it('calls the double as the service does, and reads its answers', async () => {
    await callWithService();
    const sent = double.completions.at(-1)!;
    const args = [path.join(FOLDER, 'client.mjs'), double.url, AGENT, JSON.stringify(sent)];
    const env = { PATH: process.env['PATH'], RETELL_API_KEY: KEY };
    const { stdout } = await promisify(execFile)(process.execPath, args, { env, timeout: 60_000 });
    const printed = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as object);
    expect(printed).toEqual([
      { name: 'completion', value: ANSWER },
      { name: 'concurrency', value: { current_concurrency: 0, concurrency_limit: 20 } },
      { name: 'agents', value: { has_more: false, items: [{ agent_id: AGENT, agent_name: 'Bella Vista' }] } },
      {
        name: 'agent',
        value: expect.objectContaining({
          agent_id: AGENT,
          language: 'it-IT',
          response_engine: { type: 'conversation-flow' },
        }),
      },
    ]);
    const bySdk = double.requests.find(({ url }) => url.startsWith('/agent-playground-completion/agent_01?version=3'))!;
    const byService = double.requests.find(({ url }) => url === '/agent-playground-completion/agent_01')!;
    expect(JSON.parse(bySdk.body)).toEqual(sent);
    for (const name of ['authorization', 'content-type']) expect(bySdk.headers[name]).toBe(byService.headers[name]);
  });

  it('has typings that fit what the service sends and what the double answers', async () => {
    await callWithService();
    const sent = double.completions.map((body) => ['PlaygroundCompletionParams', body] as const);
    expect(typeErrors([...sent, ['PlaygroundCompletionResponse', ANSWER]])).toEqual([]);
    // The check finds what is wrong.
    expect(
      typeErrors([['PlaygroundCompletionParams', { messages: [{ role: 'assistant', content: '' }] }]]),
    ).toHaveLength(1);
  }, 60_000);
});

describe('the key of an agent of Retell', () => {
  it('is in no result in any of sixteen encodings, whatever the platform repeats of it', async () => {
    const forms = formsOfSecret(KEY);
    const echo = { messages: forms.map((content) => ({ role: 'agent', content })) };
    const invocation = {
      role: 'tool_call_invocation',
      tool_call_id: 't1',
      name: 'note',
      arguments: JSON.stringify({ forms }),
    };
    const result = { role: 'tool_call_result', tool_call_id: 't1', content: forms.join(' ') };
    for (const options of [
      { answer: () => ({ messages: [...echo.messages, invocation, result] }) },
      { refusal: { status: 401, message: `Wrong key: ${forms.join(' ')}` } },
      { refusal: { status: 500, message: forms.join(' ') } },
      { fault: 'echo-key' as const },
    ]) {
      const double = await RetellServer.start({ apiKey: KEY, ...options });
      const endpoint = {
        protocol: 'retell-text',
        url: double.url,
        headers: {},
        firstSpeaker: null,
        options: {},
        apiKey: KEY,
      };
      const called = await executeCall({
        definition: normalise({ script: [{ say: 'Hello.' }, { end: 'Done' }] }),
        scenario: { scenarioText: '' },
        personality: { name: 'Caller' },
        transport: transportTo(endpoint, {
          client: new OutboundClient({ allowedNetworks: ['127.0.0.0/8'] }),
          ...{ assistantId: AGENT, phoneNumber: '', workspaceId: 'w-1', callId: 'c-1' },
        }),
      });
      await double.stop();
      const stored = JSON.stringify(called);
      expect(forms.filter((form) => stored.includes(form))).toEqual([]);
    }
  });
});
