import { slotsOfOne } from '../slot-job.js';
import { FairSlots } from './fair-slots.js';
import { VirtualSlots } from './testing/virtual-slots.js';

const job = (slot: number, workspaceId = 'a', agentId = `agent of ${workspaceId}`) => ({ agentId, workspaceId, slot });
const SECOND = 1_000;
const MINUTE = 60 * SECOND;

describe('FairSlots', () => {
  it.each([
    [1, 1],
    [2, 1],
    [3, 2],
    [4, 3],
    [20, 18],
    [50, 45],
  ])('of %i slots gives a workspace %i while no other one has any, and the others to another one', (slots, share) => {
    const fair = new FairSlots(slots);
    expect(slotsOfOne(slots)).toBe(share);
    for (let slot = 0; slot < share; slot++) expect(fair.take(job(slot))).toBe(true);
    expect(fair.take(job(share))).toBe(false);
    expect(fair.take(job(0, 'b'))).toBe(true);
  });

  it('gives a workspace that holds some no slot of those that are kept', () => {
    const fair = new FairSlots(20);
    for (let slot = 0; slot < 17; slot++) fair.take(job(slot));
    expect(fair.take(job(0, 'b'))).toBe(true);
    expect(fair.take(job(1, 'b'))).toBe(false);
    expect(fair.take(job(0, 'c'))).toBe(true);
  });

  it('lets a workspace with more than its share continue no call until it has its share', () => {
    const fair = new FairSlots(11);
    for (let slot = 0; slot < 10; slot++) fair.take(job(slot));
    expect(fair.mayContinue(job(0))).toBe(true);
    fair.take(job(0, 'b'));
    for (let used = 10; used > 5; used--) {
      expect(fair.mayContinue(job(0))).toBe(false);
      fair.release(job(used - 1));
    }
    expect(fair.mayContinue(job(0))).toBe(true);
    expect(fair.take(job(5))).toBe(false);
    expect(fair.mayContinue(job(0, 'b'))).toBe(true);
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

  it('resumes the workspace that uses the fewest slots, whichever releases one', () => {
    const fair = new FairSlots(10);
    for (let slot = 0; slot < 9; slot++) fair.take(job(slot));
    fair.park(job(9));
    fair.take(job(0, 'b'));
    for (const slot of [1, 2]) expect(fair.park(job(slot, 'b'))).toBe(true);
    // Its slot was one of those that are kept.
    expect(fair.release(job(8))).toEqual([]);
    expect(fair.release(job(7))).toEqual([job(1, 'b')]);
    fair.take(job(1, 'b'));
    expect(fair.release(job(6))).toEqual([job(2, 'b')]);
    // Without the other workspace there is room for nine again.
    expect(fair.release(job(1, 'b'))).toEqual([]);
    expect(fair.release(job(0, 'b'))).toEqual([job(9)]);
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

  describe('with 50 slots and a workspace with 500 calls', () => {
    it('starts the calls of two others within 5 s, though no call has ended', () => {
      const queue = new VirtualSlots(50);
      queue.start('a', { calls: 500, lastMs: 60 * MINUTE });
      queue.runUntil(MINUTE);
      expect(queue.running('a')).toBe(45);
      queue.start('b', { calls: 1, lastMs: MINUTE });
      queue.start('c', { calls: 1, lastMs: MINUTE });
      queue.runUntil(MINUTE + 5 * SECOND);
      expect([queue.running('a'), queue.running('b'), queue.running('c')]).toEqual([45, 1, 1]);
    });

    it('gives each of three a third as calls end, and the first one all again at last', () => {
      const queue = new VirtualSlots(50);
      queue.start('a', { calls: 500, lastMs: MINUTE });
      queue.runUntil(30 * SECOND);
      for (const workspace of ['b', 'c']) queue.start(workspace, { calls: 60, lastMs: MINUTE });
      queue.runUntil(100 * SECOND);
      expect([queue.running('a'), queue.running('b'), queue.running('c')]).toEqual([15, 15, 15]);
      queue.runUntil(10 * MINUTE);
      expect([queue.running('a'), queue.running('b'), queue.running('c')]).toEqual([45, 0, 0]);
      queue.runUntil(30 * MINUTE);
      expect(queue.ended).toEqual({ a: 500, b: 60, c: 60 });
    });
  });
});
