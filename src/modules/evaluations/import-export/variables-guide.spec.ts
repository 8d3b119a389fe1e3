import { readFileSync } from 'node:fs';
import path from 'node:path';
import {
  authored,
  type EvaluationInput,
  inputViolations,
  normalise,
  withVariables,
} from '../../../../libs/evaluation-definition/index.js';
import { OutboundClient } from '../../../../libs/outbound-http/index.js';
import { referenceTransport } from '../../../../test/simulators/agent/testing/transport.js';
import { chatCompletions, executeCall, RealClock, VirtualClock } from '../../../../libs/simulation/index.js';
import { TestServers } from '../../../../test/simulators/servers.js';
import {
  startMindfulAgent,
  startPersistentAgent,
  startToolAgent,
} from '../../../../test/simulators/agent/testing/tool-agent.js';
import { CORE_SCHEMA, load } from 'js-yaml';
import { readFile } from './file.js';

const GUIDE = readFileSync(path.resolve(__dirname, '../../../../docs/guides/variables.md'), 'utf8');
const [whole = '', ...parts] = [...GUIDE.matchAll(/^```yaml\n([^]*?)^```/gm)].map(([, text = '']) => text);
const needed = { name: 'Example', scenarioText: 'A', personalityId: 'c7e15a3b-2f68-4d90-a1b4-8e9d0c6f7251' };

describe('the guide to variables, tool results and language', () => {
  const servers = new TestServers();
  afterAll(() => servers.close());

  it('has a file whose cases pass with the reference agent, and fail with a planted fault', async () => {
    const [item] = readFile({ mediaType: 'application/yaml', text: whole }).evaluations;
    expect([...(item?.violations ?? []), ...inputViolations('file', item?.value)]).toEqual([]);
    const evaluation = authored({ ...(item?.value as EvaluationInput), personalityId: '' }, '');
    expect(evaluation.variables).toHaveLength(2);
    for (const row of evaluation.variables) {
      const replaced = withVariables(evaluation, row);
      const call = (options: Parameters<typeof referenceTransport>[0]) =>
        executeCall({
          definition: normalise(replaced),
          scenario: replaced,
          personality: { name: 'Caller' },
          transport: referenceTransport(options),
          clock: new VirtualClock(),
        });
      const healthy = await call({});
      expect(healthy.outcome).toBe('passed');
      const said = healthy.timeline.flatMap((entry) => (entry.type === 'speech' ? entry.text : []));
      expect(said).toContain(`${row['spoken']} of us.`);
      expect(await call({ fault: 'wrong-tool-argument' })).toMatchObject({ outcome: 'failed' });
    }
  });

  it('has tool results that an agent which waits for its tools receives', async () => {
    const { toolResults } = load(parts[0] ?? '', { schema: CORE_SCHEMA }) as Pick<EvaluationInput, 'toolResults'>;
    const url = await startToolAgent(servers);
    const { timeline } = await executeCall({
      definition: normalise({ script: [{ say: 'A table for 4.' }], toolResults: toolResults ?? [] }),
      scenario: { scenarioText: 'You want a table.' },
      personality: { name: 'Caller' },
      transport: chatCompletions({
        client: new OutboundClient({ allowedNetworks: ['127.0.0.0/8'] }),
        url,
        assistantId: 'a',
      }),
      clock: new RealClock(),
    });
    expect(timeline).toMatchObject([
      {},
      { result: { times: ['19:30', '21:00'] } },
      { arguments: { time: '19:30' }, result: { reference: 'QX7' } },
      { text: 'Your table is booked, QX7.' },
      {},
    ]);
  });

  it('has results in order that an agent gets which asks again, and that fail one which does not', async () => {
    const { toolResults = [] } = load(parts[1] ?? '', { schema: CORE_SCHEMA }) as Pick<EvaluationInput, 'toolResults'>;
    const call = async (confirmsAnything: boolean) =>
      executeCall({
        definition: normalise({
          script: [{ say: 'A table at seven.' }],
          toolResults,
          checks: [{ type: 'says', text: 'booked for 20:00' }],
        }),
        scenario: { scenarioText: 'You want a table.' },
        personality: { name: 'Caller' },
        transport: chatCompletions({
          client: new OutboundClient({ allowedNetworks: ['127.0.0.0/8'] }),
          url: await startPersistentAgent(servers, { time: '7 pm', filler: 'One moment.', confirmsAnything }),
          assistantId: 'a',
        }),
        clock: new RealClock(),
      });
    expect((await call(false)).outcome).toBe('passed');
    expect((await call(true)).outcome).toBe('failed');
  });

  it('has a history, without which an agent would not know for how many people the table is', async () => {
    const example = load(parts[2] ?? '', { schema: CORE_SCHEMA }) as EvaluationInput;
    const outcome = async (definition: EvaluationInput, forgets: boolean) => {
      const url = await startMindfulAgent(servers, undefined, forgets);
      const client = new OutboundClient({ allowedNetworks: ['127.0.0.0/8'] });
      const result = await executeCall({
        definition: normalise(definition),
        scenario: { scenarioText: 'You want a table.' },
        personality: { name: 'Caller' },
        transport: chatCompletions({ client, url, assistantId: 'a' }),
        clock: new RealClock(),
      });
      return result.outcome;
    };
    expect(await outcome(example, false)).toBe('passed');
    expect(await outcome(example, true)).toBe('failed');
    expect(await outcome({ ...example, history: [] }, false)).toBe('failed');
  });

  it.each(parts)('has valid parts of an evaluation: %s', (text) => {
    expect(inputViolations('new', { ...needed, ...(load(text, { schema: CORE_SCHEMA }) as object) })).toEqual([]);
  });
});
