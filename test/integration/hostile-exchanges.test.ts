import { isDeepStrictEqual } from 'node:util';
import { normalise } from '../../libs/evaluation-definition/index.js';
import { OutboundClient } from '../../libs/outbound-http/index.js';
import { executeCall, type CallResult, transportTo } from '../../libs/simulation/index.js';
import { compared } from '../support/hostile/compared.js';
import { ExchangeProxy } from '../support/hostile/exchange-proxy.js';
import { FieldsOfExchange } from '../support/hostile/fields-of-exchange.js';
import { KEY, TEXT_PLATFORMS, type Platform } from '../support/hostile/platforms.js';
import { withClient } from '../support/sql.js';

const DEFINITION = normalise({
  script: [{ say: 'Hello' }, { end: 'Greeted' }],
  checks: [{ name: 'Greets', type: 'says', text: 'welcome' }],
});

const verdictOf = ({ outcome, failure, checks, end }: CallResult) =>
  JSON.stringify([outcome, failure?.code, end.code, checks.map(({ met }) => met)]);

describe.each(Object.entries(TEXT_PLATFORMS))('a call over %s', (name, { path = '', start }) => {
  const exchange = new FieldsOfExchange();
  const client = new OutboundClient({ allowedNetworks: ['127.0.0.0/8'] });
  let platform: Platform;
  let proxy: ExchangeProxy;

  beforeAll(async () => {
    platform = await start();
    proxy = await ExchangeProxy.start(platform.host, exchange);
  });
  afterAll(async () => {
    await proxy?.stop();
    await platform?.stop();
  });

  function call(variant: string): Promise<CallResult> {
    const url = `http://${proxy.host}/${variant}${path}`;
    const protocol = name.split(',')[0]!;
    const endpoint = { protocol, url, headers: {}, firstSpeaker: null, apiKey: KEY, options: {} };
    const called = { client, assistantId: 'agent_01', phoneNumber: '', callId: 'c-1', workspaceId: 'w-1' };
    const transport = transportTo(endpoint, called);
    if (!('connect' in transport)) throw new Error('not a text protocol');
    const base = { definition: DEFINITION, scenario: { scenarioText: 'Hello' }, personality: { name: 'Caller' } };
    return executeCall({ ...base, transport, patienceMs: 300 });
  }

  it('with one hostile field is stored and judged like a text call with a harmless value', async () => {
    expect(await call('healthy')).toMatchObject({ outcome: 'passed' });
    expect(exchange.fields.length).toBeGreaterThan(8);
    const { results, wrong } = await compared(exchange, call, verdictOf, {
      mayRefuse: ({ failure }) => failure?.code === 'answer_too_large',
    });
    expect(wrong).toEqual([]);
    await withClient(process.env['TEST_DATABASE_URL']!, async (database) => {
      for (const result of results) {
        const json = JSON.stringify(result);
        const { rows } = await database.query<{ result: unknown }>('SELECT $1::jsonb AS result', [json]);
        expect(isDeepStrictEqual(rows[0]!.result, JSON.parse(json))).toBe(true);
      }
    });
  }, 300_000);
});
