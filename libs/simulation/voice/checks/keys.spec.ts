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

  const putThrough = (transfer: true | string): CheckSpec => ({ type: 'hears_keys', keys: '1', then: { transfer } });

  it('compares the number of a transfer as a number, or finds its words', async () => {
    const dialled = { ...pressed, platformEvents: [{ type: 'transfer' as const, atMs: 3_000, detail: '+1 555 0100' }] };
    expect(await check(putThrough('+15550100'), dialled)).toMatchObject({ met: true });
    expect(await check(putThrough('0100'), dialled)).toMatchObject({ met: true });
    expect(await check(putThrough('+15550199'), dialled)).toMatchObject({ met: false });
    const unnamed = { ...dialled, platformEvents: [{ type: 'transfer' as const, atMs: 3_000, detail: '' }] };
    expect(await check(putThrough('+15550100'), unnamed)).toMatchObject({ met: null });
  });

  // vocodedev/vocode-core#276, dograh-hq/pipecat#27: the backend asks Twilio's API for the transfer, and the stream just ends.
  it('is undecided about a transfer that cannot be seen, unless another one was seen', async () => {
    const unknownTools = 'Tool calls are not known';
    const agent = [agentSound(3_000, 4_000)];
    expect(await check(putThrough(true), { ...pressed, agent, unknownTools })).toMatchObject({
      ...{ met: null, undecided: 'evidence' },
      detail: 'Whether the agent transferred the call is not known. Tool calls are not known',
    });
    expect(await check(putThrough(true), { ...pressed, ...transferAt(3_000), unknownTools })).toMatchObject({
      met: true,
    });
    const elsewhere = { ...pressed, ...transferAt(3_000), unknownTools };
    expect(await check(putThrough('+15550199'), elsewhere)).toMatchObject({ met: false });
    expect(await check(putThrough(true), { ...pressed, agent, unknownTools: null })).toMatchObject({ met: false });
  });

  it('counts a transfer that the backend of the agent reports as a tool call', async () => {
    const call = (name: string, number: string, at: number) => ({
      ...{ type: 'tool_call' as const, name, arguments: { number }, reported: 'given' as const },
      ...{ start: at, end: at, turn: 1 },
    });
    const found = async (transfer: true | string, ...tools: ReturnType<typeof call>[]) =>
      (await check(putThrough(transfer), { ...pressed, unknownTools: null }, tools)).met;
    expect(await found(true, call('transfer_call', '+15550100', 3_000))).toBe(true);
    expect(await found('+15550100', call('transfer_call', '+15550100', 3_000))).toBe(true);
    expect(await found('+15550100', call('transfer_call', '+15550199', 3_000))).toBe(false);
    expect(await found(true, call('transfer_call', '+15550100', 1_000))).toBe(false);
    expect(await found(true, call('find_customer', '+15550100', 3_000))).toBe(false);
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
