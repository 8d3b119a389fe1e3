import { FairSlots } from './fair-slots.js';

const job = (slot: number, workspaceId = 'a', agentId = `agent of ${workspaceId}`) => ({ agentId, workspaceId, slot });

describe('FairSlots', () => {
  it.each([
    [1, 1],
    [2, 1],
    [3, 2],
    [4, 3],
    [20, 15],
  ])('of %i slots gives a workspace %i, and the others to another one', (slots, share) => {
    const fair = new FairSlots(slots);
    expect(fair.share).toBe(share);
    for (let slot = 0; slot < share; slot++) expect(fair.take(job(slot))).toBe(true);
    expect(fair.take(job(share))).toBe(false);
    expect(fair.take(job(0, 'b'))).toBe(true);
  });

  it('resumes parked jobs one per free slot, low numbers first, and all with the last release', () => {
    const fair = new FairSlots(4);
    for (const slot of [0, 1, 2]) fair.take(job(slot));
    for (const slot of [5, 4, 7, 6]) expect(fair.park(job(slot))).toBe(true);
    expect(fair.park(job(4))).toBe(true);
    expect(fair.parkedBeside(job(0))).toBe(4);
    expect(fair.release(job(0))).toEqual([job(4)]);
    expect(fair.release(job(1))).toEqual([job(5), job(6)]);
    expect(fair.park(job(8))).toBe(false);
    expect(fair.release(job(2))).toEqual([job(7)]);
    expect(fair.parkedBeside(job(0))).toBe(0);
  });

  it('keeps workspaces apart', () => {
    const fair = new FairSlots(4);
    for (const slot of [0, 1, 2]) fair.take(job(slot));
    fair.park(job(3));
    fair.take(job(0, 'b'));
    expect(fair.parkedBeside(job(0, 'b'))).toBe(0);
    expect(fair.release(job(0, 'b'))).toEqual([]);
  });

  it('counts jobs of an earlier version, without a workspace, by agent', () => {
    const fair = new FairSlots(1);
    expect(fair.take({ agentId: 'x', slot: 0 })).toBe(true);
    expect(fair.take({ agentId: 'x', slot: 1 })).toBe(false);
    expect(fair.take({ agentId: 'y', slot: 0 })).toBe(true);
  });
});
