import type { CheckSpec } from '../../../evaluation-definition/index.js';
import { check, endedAt } from '../testing/check.js';
import { agentSound, keys, line } from '../testing/facts.js';

describe('max_silence_ms and max_pause_ms', () => {
  it('is undecided if nothing was said that the agent could answer, and the agent was not heard', async () => {
    const found = await check({ type: 'max_silence_ms', ms: 1_000 }, {});
    expect(found).toMatchObject({ met: null, undecided: 'not_exercised', detail: 'The agent was not heard' });
    expect(await check({ type: 'max_silence_ms', ms: 1_000 }, { agent: [agentSound(0, 1_000)] })).toMatchObject({
      met: true,
    });
  });

  it('are undecided if the agent was not heard, unless the silence is longer than its limit', async () => {
    const facts = { caller: [line(1_000, 3_000)], ...endedAt(5_000) };
    const undecided = { met: null, undecided: 'not_exercised', detail: 'The agent was not heard' };
    expect(await check({ type: 'max_silence_ms', ms: 8_000 }, facts)).toMatchObject(undecided);
    expect(await check({ type: 'max_pause_ms', ms: 8_000 }, facts)).toMatchObject(undecided);
    expect(await check({ type: 'max_silence_ms', ms: 1_000 }, facts)).toMatchObject({ met: false });
  });
});

describe('checks that text calls share', () => {
  const facts = {
    caller: [line(3_000, 4_000), line(20_000, 21_000, { turn: 2 })],
    agent: [agentSound(2_000, 2_300, { turn: 0 }), agentSound(4_812, 6_000), agentSound(10_000, 12_000)],
    agentTurns: [{ turn: 1, startMs: 4_812, endMs: 12_000, audibleMs: 3_188, endedBy: 'silence' as const }],
    end: { by: 'agent' as const, code: 'agent_hung_up' as const, reason: '', atMs: 21_500 },
  };

  it('go by what was heard', async () => {
    const latency = (ms: number): CheckSpec => ({ type: 'max_latency_ms', ms, percentile: 100 });
    expect(await check(latency(812), facts)).toMatchObject({ met: true });
    expect(await check(latency(811), facts)).toMatchObject({ met: false, evidence: [{ entry: 2 }] });
    expect(await check({ type: 'max_pause_ms', ms: 3_999 }, facts)).toMatchObject({ met: false });
    expect(await check({ type: 'max_pause_ms', ms: 4_000 }, facts)).toMatchObject({ met: true });
  });

  it('measure the answer to keys of a caller that says nothing', async () => {
    const facts = {
      caller: [keys(2_000, 2_100)],
      agent: [agentSound(0, 1_000, { turn: 0 }), agentSound(2_700, 4_000, { turn: 0 })],
    };
    const latency = (ms: number): CheckSpec => ({ type: 'max_latency_ms', ms, percentile: 100 });
    expect(await check(latency(600), facts)).toMatchObject({ met: true });
    expect(await check(latency(599), facts)).toMatchObject({ met: false, evidence: [{ entry: 2 }] });
    expect(await check(latency(9_000), { ...facts, agent: facts.agent.slice(0, 1) })).toMatchObject({
      met: false,
      detail: expect.stringContaining('27900 ms') as string,
    });
  });

  it('count no silence but that of the agent', async () => {
    expect(await check({ type: 'max_silence_ms', ms: 4_000 }, facts)).toMatchObject({
      met: true,
      detail: 'The longest silence lasted 4000 ms; the limit is 4000',
    });
    expect(await check({ type: 'max_silence_ms', ms: 3_999 }, facts)).toMatchObject({ met: false });
  });
});
