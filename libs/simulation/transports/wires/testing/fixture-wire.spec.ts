import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { type DefinitionInput, normalise } from '../../../../evaluation-definition/index.js';
import { OutboundClient } from '../../../../outbound-http/index.js';
import {
  type CallOptions,
  executeCall,
  mediaThreads,
  misfitOf,
  PROTOCOLS,
  testConnection,
  transportTo,
} from '../../../index.js';
import { shareOf } from '../../../../statistics/testing/sample.js';
import { virtualCalls } from '../../../voice/call/virtual-call.js';
import { collected, SOUNDS } from '../../../voice/testing/virtual-calls.js';
import type { VoiceTransport } from '../../../voice/wire/voice-transport.js';
import { type Act, FixtureAgent, type FixtureScript, message, READY, says } from './fixture-double/agent.js';
import { fixtureContractDouble } from './fixture-double/contract.js';
import { FixtureServer } from './fixture-double/server.js';
import { fixtureWire } from './fixture-wire/index.js';
import fixtureEntry from './fixture-wire/wire.js';
import { TEST_PROTOCOLS } from './registry.js';
import { wireContract } from './wire-contract.js';

const required = { required: true, weight: 1 };
const GREETING: Act = { afterMs: 200, send: says(1, 'Bella Vista, good evening.', 900) };
const ONE_LINE = { script: [{ say: 'A table for four.' }, { end: 'Done' }] } as const satisfies DefinitionInput;

const virtual = (script: FixtureScript) =>
  virtualCalls({
    wire: fixtureEntry({ callId: 'c-1', secrets: [] }),
    lineRate: 16_000,
    agent: (socket) => new FixtureAgent(socket, script),
  });

function execute(
  definition: DefinitionInput,
  transport: VoiceTransport,
  recording = collected(),
  model?: CallOptions['model'],
) {
  return executeCall({
    definition: normalise(definition),
    scenario: { scenarioText: 'You want a table.' },
    personality: { name: 'Caller' },
    transport,
    voice: { sounds: SOUNDS, voice: 'any', recording: recording.sink },
    ...(model && { model }),
  });
}

const agentSpeech = ({ timeline }: Awaited<ReturnType<typeof execute>>) =>
  timeline.filter((entry) => entry.type === 'speech' && entry.speaker === 'agent');

describe('fixtureWire, as every wire', () => {
  wireContract(fixtureWire, fixtureContractDouble, 'wss://agent.example.com/calls');
});

describe('a call over the fixture wire', () => {
  it('has the words of whole items, and what the platform heard of the caller beside its line', async () => {
    const result = await execute(
      ONE_LINE,
      virtual({
        onHello: [READY, GREETING],
        onLine: [[{ send: [message('heard', { text: 'a cable for four' }), ...says(2, 'For when?', 600)] }]],
      }),
    );
    const speech = result.timeline.filter(({ type }) => type === 'speech');
    expect(speech).toMatchObject([
      { speaker: 'agent', text: 'Bella Vista, good evening.' },
      { speaker: 'caller', alternative: { source: 'wire', text: 'a cable for four' } },
      { speaker: 'agent', text: 'For when?' },
    ]);
    expect(agentSpeech(result)).toMatchObject([{ words: 'known' }, { words: 'known' }]);
    expect(result).toMatchObject({ outcome: 'passed', voice: { wireFindings: [] } });
  });

  it('has the words of an item that were heard before it was dropped, and those of a later item', async () => {
    const drop: Act = { afterMs: 500, send: [message('drop', { item: 1 })] };
    const later: Act = { afterMs: 200, send: says(2, 'How many?', 600) };
    const result = await execute(ONE_LINE, virtual({ onHello: [READY, GREETING, later, drop] }));
    const [dropped, whole] = agentSpeech(result);
    // The items follow each other without a pause, so both are one sound.
    expect(dropped).toMatchObject({ text: expect.stringMatching(/^Bella.* How many\?$/) as string, interrupted: true });
    expect(whole).toBeUndefined();
    const alone = await execute(ONE_LINE, virtual({ onHello: [READY, GREETING, drop] }));
    expect(agentSpeech(alone)).toMatchObject([{ text: expect.stringMatching(/^Bella/) as string, words: 'known' }]);
  });

  it('has the beginning of an item whose rest arrived after it was dropped', async () => {
    const [start, ...audio] = says(1, 'Good evening, this is Bella Vista.', 900);
    const half = audio.length / 2;
    const result = await execute(
      ONE_LINE,
      virtual({
        onHello: [
          READY,
          { afterMs: 200, send: [start!, ...audio.slice(0, half)] },
          { afterMs: 1_500, send: [message('drop', { item: 1 }), ...audio.slice(half)] },
        ],
      }),
    );
    expect(agentSpeech(result)).toMatchObject([{ text: expect.stringMatching(/^Good/) as string, interrupted: true }]);
  });

  it('answers tool calls from the results of the evaluation, and judges their arguments', async () => {
    const json = JSON.stringify({ people: 4 });
    const results: string[] = [];
    const run = (people: number) =>
      execute(
        {
          ...ONE_LINE,
          toolResults: [{ tool: 'find_table', arguments: { people: 4 }, result: { table: 'by the window' } }],
          checks: [{ type: 'calls_tool', tool: 'find_table', arguments: { people }, ...required }],
        },
        virtual({
          onHello: [READY, GREETING],
          onLine: [[{ send: [message('tool_call', { id: 't-1', name: 'find_table', json })] }]],
          onToolResult: (id, result) => {
            results.push(`${id} ${result}`);
            return [{ send: says(2, 'By the window?', 600) }];
          },
        }),
      );
    const passed = await run(4);
    expect(passed.outcome).toBe('passed');
    expect(results).toEqual(['t-1 {"table":"by the window"}']);
    expect(passed.timeline.filter(({ type }) => type === 'tool_call')).toMatchObject([
      { name: 'find_table', arguments: { people: 4 }, result: { table: 'by the window' }, turn: 1 },
    ]);
    expect((await run(5)).outcome).toBe('failed');
  });

  it('is recorded with 16 bits at the rate of its line', async () => {
    const recording = collected();
    const { measures } = await execute(ONE_LINE, virtual({ onHello: [READY, GREETING] }), recording);
    expect(recording.bytes()).toHaveLength(2 * 2 * 16 * measures.durationMs);
  });

  it('has a finding for JSON that is broken, and goes on', async () => {
    const broken: Act = { afterMs: 150, send: ['{"type":"said","item":', message('said', { item: 'first' })] };
    const result = await execute(ONE_LINE, virtual({ onHello: [READY, broken, GREETING] }));
    expect(result.voice?.wireFindings).toMatchObject([
      { code: 'invalid_message', detail: expect.stringMatching(/\{"type":"said","item":.*\(2 times\)/) as string },
    ]);
    expect(agentSpeech(result)).toHaveLength(1);
  });

  it.each([
    // The caller had not finished its line.
    [1000, 'agent_hung_up', 'not_exercised'],
    [1011, 'failure', 'connection_lost'],
  ])('ends when the platform closes the connection with %s without an end', async (code, end, failure) => {
    const transport = virtual({ onHello: [READY, GREETING, { afterMs: 2_000, close: { code, reason: 'restart' } }] });
    const result = await execute(ONE_LINE, transport);
    expect([result.end.code, result.failure?.code ?? null]).toEqual([end, failure]);
    expect(result.voice?.wireFindings).toMatchObject([{ code: 'closed_without_end' }]);
  });

  it('ends after the last words when the platform says that the agent hangs up', async () => {
    const end: Act = { afterMs: 300, send: [message('end', { text: 'goodbye' })] };
    const result = await execute(ONE_LINE, virtual({ onHello: [READY, GREETING, end] }));
    // The greeting began 100 ms after the platform was ready, and has 900 ms.
    expect(result.end).toMatchObject({ by: 'agent', code: 'agent_hung_up', reason: 'goodbye' });
    expect(result.measures.durationMs).toBeGreaterThanOrEqual(1_000);
    expect(result.measures.durationMs).toBeLessThan(1_050);
    expect(agentSpeech(result)).toMatchObject([{ text: 'Bella Vista, good evening.' }]);
  });

  it('does not throw, whatever the order of items, words, tool calls and drops', async () => {
    const texts = fc.oneof(
      fc.record({ type: fc.constant('item'), item: fc.integer({ min: -1, max: 4 }) }),
      fc.record({ type: fc.constant('said'), item: fc.integer({ min: -1, max: 4 }), text: fc.string() }),
      fc.record({ type: fc.constant('heard'), text: fc.string({ unit: 'binary' }) }),
      fc.record({ type: fc.constant('drop'), item: fc.integer({ min: -1, max: 4 }) }),
      fc.record({ type: fc.constant('tool_call'), id: fc.string(), name: fc.string(), json: fc.json() }),
    );
    const audio = fc.integer({ min: 0, max: 30_000 }).map((length) => new Uint8Array(length).fill(0x33));
    const act = fc.record({
      afterMs: fc.integer({ min: 0, max: 6_000 }),
      send: fc.array(
        fc.oneof(
          texts.map((fields) => JSON.stringify(fields)),
          audio,
        ),
        { maxLength: 6 },
      ),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(act, { maxLength: 12 }), async (acts) => {
        const result = await execute(ONE_LINE, virtual({ onHello: [READY, ...acts] }));
        expect(result.failure?.code).not.toBe('internal');
        expect(result.timeline.at(-1)).toMatchObject({ type: 'end' });
        expect(JSON.parse(JSON.stringify(result.timeline))).toEqual(result.timeline);
      }),
      { numRuns: shareOf(60) },
    );
  });
});

describe('the fixture wire over a socket', () => {
  const servers: FixtureServer[] = [];
  const serve = async (script: FixtureScript) => {
    const server = await FixtureServer.start(script);
    servers.push(server);
    return server;
  };
  afterEach(async () => {
    for (const server of servers.splice(0)) await server.stop();
  });
  afterAll(() => mediaThreads.close());

  const reach = (url: string) =>
    [
      {
        protocol: 'fixture-wire',
        url,
        headers: { 'x-tenant': 'bella-vista' },
        firstSpeaker: null,
        options: { pin: 'pin-1234' },
        apiKey: 'key-12345678',
      },
      {
        client: new OutboundClient({ allowedNetworks: ['127.0.0.0/8'] }),
        assistantId: 'a-1',
        phoneNumber: '+12025550199',
        workspaceId: 'w-1',
        callId: randomUUID(),
      },
    ] as const;

  it('makes a call in the media thread', async () => {
    const server = await serve({ onHello: [READY, GREETING], onLine: [[{ send: says(2, 'For when?', 600) }]] });
    const recording = collected();
    const transport = transportTo(...reach(server.url), TEST_PROTOCOLS) as VoiceTransport;
    const result = await execute(ONE_LINE, transport, recording);
    expect(result).toMatchObject({ outcome: 'passed', exchange: { protocol: 'fixture-wire' } });
    expect(agentSpeech(result)).toMatchObject([{ text: 'Bella Vista, good evening.' }, { text: 'For when?' }]);
    expect(server.headers).toMatchObject([{ 'x-tenant': 'bella-vista', authorization: 'Bearer key-12345678' }]);
    expect(server.agents[0]!.received).toMatchObject([{ type: 'hello', pin: 'pin-1234' }, { type: 'bye' }]);
    expect(recording.wire.join('\n')).not.toMatch(/pin-1234|key-12345678/);
    expect(recording.bytes()).toHaveLength(2 * 2 * 16 * result.measures.durationMs);
  });

  it('asks the caller at its turn, whose thinking is in no latency', async () => {
    const server = await serve({
      onHello: [READY, GREETING],
      onLine: [[{ afterMs: 200, send: says(2, 'Your name?', 600) }], [{ afterMs: 200, send: says(3, 'Booked.', 600) }]],
    });
    const lines = [{ say: 'A table.' }, { say: 'Rossi.', end: 'It is booked' }];
    const model = {
      model: 'double',
      prices: undefined,
      ask: async (messages: readonly { readonly role: string }[]) => {
        await sleep(800);
        return JSON.stringify(lines[messages.filter(({ role }) => role === 'assistant').length]);
      },
    } as unknown as NonNullable<CallOptions['model']>;
    const transport = transportTo(...reach(server.url), TEST_PROTOCOLS) as VoiceTransport;
    const result = await execute({}, transport, collected(), model);
    expect(result.end).toMatchObject({ by: 'caller', reason: 'It is booked' });
    const { latencies, callerThinking } = result.voice!.voice;
    expect(latencies).toHaveLength(2);
    // The double notices the end of a line after 500 ms of silence.
    for (const { heardMs, plusMinusMs } of latencies) {
      expect(Math.abs(heardMs! - 700)).toBeLessThanOrEqual(60 + plusMinusMs);
    }
    for (const { startMs, endMs } of callerThinking!) expect(endMs - startMs).toBeGreaterThanOrEqual(780);
    const signs = server.agents[0]!.received.filter(({ type }) => type === 'thinking').map(({ on }) => on);
    expect(signs).toEqual([true, false, true, false]);
  });

  it('is tested until the first words, without audio', async () => {
    const server = await serve({
      onHello: [READY, { afterMs: 300, send: [message('said', { item: 1, text: 'Hi' })] }],
    });
    const [endpoint, call] = reach(server.url);
    const result = await testConnection(endpoint, call, 15_000, TEST_PROTOCOLS);
    expect(result.ok).toBe(true);
    expect(result.steps.map(({ step, status }) => `${step} ${status}`)).toEqual([
      'resolved passed',
      'connected passed',
      'secured skipped',
      'websocket passed',
      'ready passed',
      'answered passed',
    ]);
    expect(server.agents[0]!.received.at(-1)).toEqual({ type: 'bye' });
  });
});

describe('evaluations over the fixture wire', () => {
  const misfit = (definition: DefinitionInput) =>
    misfitOf(normalise(definition), 'en-US', fixtureWire, { languages: ['en'], cure: '' });

  it('may check tool calls and words, and have criteria and a caller that answers', () => {
    expect(misfit({ ...ONE_LINE, checks: [{ type: 'calls_tool', tool: 'book' }] })).toBeUndefined();
    expect(misfit({ ...ONE_LINE, checks: [{ type: 'says', text: 'hello' }] })).toBeUndefined();
    expect(misfit({ ...ONE_LINE, checks: [{ type: 'speaking_rate', maxWpm: 200 }] })).toBeUndefined();
    expect(misfit({ ...ONE_LINE, criteria: [{ text: 'Polite.' }] })).toBeUndefined();
    expect(misfit({ script: [{ answers: [{ when: { says: { text: 'name' } }, say: 'Rossi' }] }] })).toBeUndefined();
    expect(misfit({})).toBeUndefined();
  });

  it('may not have answers that no voice can speak', () => {
    const answers = [{ when: { says: { text: 'name' } }, say: '...' }];
    expect(misfit({ script: [{ say: 'Hello.' }, { answers }] })).toBe(
      'it has lines without a word to speak: script[1]',
    );
  });
});

describe('the protocols of production', () => {
  it('do not have the fixture wire, which those of the tests add', () => {
    expect(PROTOCOLS.names).not.toContain('fixture-wire');
    expect(TEST_PROTOCOLS.names).toEqual([...PROTOCOLS.names, 'fixture-wire']);
    expect(() => PROTOCOLS.of('fixture-wire')).toThrow('There is no protocol "fixture-wire".');
  });
});
