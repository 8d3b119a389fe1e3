import { totalCostUsd } from '../index.js';
import { ModelMeter, testerUsage } from './tester-usage.js';
import { agentSaying, call } from '../testing/calls.js';
import { stubModel } from '../../../test/simulators/model/llm-stub.js';
import { TestServers } from '../../../test/simulators/servers.js';

const servers = new TestServers();
afterEach(() => servers.close());

const PRICES = { prompt: 2.5, completion: 10 };

describe('cost of the tester', () => {
  it('multiplies the tokens by their prices per million, to a millionth of a dollar', () => {
    const meter = new ModelMeter(PRICES);
    meter.add(10.4, { prompt: 1_000_000, completion: 200_000 });
    meter.add(10.4, { prompt: 1, completion: 3 });
    expect(meter.use).toEqual({
      requests: 2,
      ms: 21,
      promptTokens: 1_000_001,
      completionTokens: 200_003,
      costUsd: 4.500033,
    });
  });

  it('is 0 without requests, and null without prices or tokens', () => {
    expect(new ModelMeter().use.costUsd).toBe(0);
    const unpriced = new ModelMeter();
    unpriced.add(1, { prompt: 1, completion: 1 });
    const uncounted = new ModelMeter(PRICES);
    uncounted.add(1, { prompt: 1, completion: 1 });
    uncounted.add(1, undefined);
    expect([unpriced.use.costUsd, uncounted.use.costUsd]).toEqual([null, null]);
    expect(testerUsage(new ModelMeter(PRICES), unpriced).costUsd).toBeNull();
  });

  it('adds up without binary rounding errors', () => {
    expect(totalCostUsd([{ costUsd: 0.1 }, { costUsd: 0.2 }])).toBe(0.3);
    expect(totalCostUsd([])).toBe(0);
    expect(totalCostUsd([{ costUsd: 0.1 }, { costUsd: null }])).toBeNull();
  });

  it.each<[string, object, number | null]>([
    ['with prices', { prices: PRICES }, 0.0007],
    ['without prices', {}, null],
  ])('is part of the measures of a call, %s', async (_what, options, costUsd) => {
    const verdict = { met: true, quote: 'Hi there.', reasoning: 'So it is.' };
    const { model } = await stubModel(servers, () => verdict, options);
    const criteria = [{ text: 'The agent greets.' }];
    const { measures } = await call(
      { script: [{ say: 'Hello.' }], criteria },
      { transport: agentSaying(['Hi there.']), model },
    );
    expect(measures.tester).toMatchObject({ caller: { requests: 0, costUsd: 0 }, judge: { costUsd }, costUsd });
  });
});
