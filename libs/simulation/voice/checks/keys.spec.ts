import type { CheckSpec } from '../../../evaluation-definition/index.js';
import { check, endedAt } from '../testing/check.js';
import { agentSound, keys, line, sound } from '../testing/facts.js';

describe('hears_keys', () => {
  const pressed = { caller: [keys(2_000, 2_500), line(9_000, 9_500)] };
  const transferAt = (atMs: number) => ({
    platformEvents: [{ type: 'transfer' as const, atMs, detail: '<Dial>+15550100</Dial>' }],
  });

  it('is met if the agent answers or transfers the call before the caller acts again', async () => {
    const spec: CheckSpec = { type: 'hears_keys', keys: '1' };
    expect(await check(spec, { ...pressed, agent: [agentSound(3_000, 4_000)] })).toMatchObject({ met: true });
    expect(await check(spec, { ...pressed, ...transferAt(3_000) })).toMatchObject({ met: true });
    expect(await check(spec, { ...pressed, agent: [agentSound(10_000, 11_000)] })).toMatchObject({ met: false });
    expect(await check(spec, { caller: [line(0, 1_000)] })).toMatchObject({ undecided: 'not_exercised' });
  });

  it('goes by the given reaction', async () => {
    const spec = (transfer: true | string): CheckSpec => ({ type: 'hears_keys', keys: '1', then: { transfer } });
    expect(await check(spec('+15550100'), { ...pressed, ...transferAt(3_000) })).toMatchObject({ met: true });
    expect(await check(spec('+15550199'), { ...pressed, ...transferAt(3_000) })).toMatchObject({ met: false });
    expect(await check(spec(true), { ...pressed, agent: [agentSound(3_000, 4_000)] })).toMatchObject({ met: false });
  });
});

describe('hears_keys around sounds and the end of the call', () => {
  it('counts a transfer after a backchannel that the agent spoke through', async () => {
    const mmHmm = sound('backchannel', 3_500, 3_900, { afterMs: 500 });
    const facts = {
      caller: [keys(2_000, 2_100), mmHmm],
      agent: [agentSound(3_000, 5_000)],
      platformEvents: [{ type: 'transfer' as const, atMs: 5_100, detail: '+15550100' }],
      ...endedAt(5_100),
    };
    const spec: CheckSpec = { type: 'hears_keys', keys: '1', then: { transfer: true } };
    expect(await check(spec, facts)).toMatchObject({ met: true });
    const door = sound('noise', 3_500, 3_900, { afterMs: null });
    expect(await check(spec, { ...facts, caller: [keys(2_000, 2_100), door] })).toMatchObject({ met: false });
  });

  it('is undecided if the time limit ended the call before all keys were pressed', async () => {
    const spec: CheckSpec = { type: 'hears_keys', keys: '1' };
    const end = { by: 'tester' as const, code: 'max_duration' as const, reason: '', atMs: 2_500 };
    expect(await check(spec, { caller: [keys(2_000, 2_500)], end })).toMatchObject({ undecided: 'not_exercised' });
  });
});
