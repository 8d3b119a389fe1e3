import { randomUUID } from 'node:crypto';
import { CapacityRepository } from '../../src/modules/capacity/capacity.repository.js';
import { sql } from '../support/sql.js';
import { createTestApp, type TestApp } from '../support/test-app.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

const NUMBERS = ['+4930100001', '+4930100002', '+4930100003'];

describe('numbers at which agents call the tester', () => {
  let database: TestDatabase;
  let app: TestApp;
  let capacity: CapacityRepository;

  beforeAll(async () => {
    database = await createTestDatabase();
    app = await createTestApp({ env: { ROLE: 'api' }, databaseUrl: database.url });
    capacity = app.nest.get(CapacityRepository);
  });
  afterEach(() => query('DELETE FROM platform_calls'));
  afterAll(async () => {
    await app.close();
    await database.drop();
  });

  const query = (text: string, values: unknown[] = []) => sql<any>(database.url, text, values);
  const attempt = async (): Promise<string> => {
    const claimId = randomUUID();
    await query(
      `INSERT INTO platform_calls (claim_id, workspace_id, agent_id, medium, protocol, bills, attempt, credential, state,
                                   lease_until, end_failures, created_at, updated_at)
       VALUES ($1, $1, $1, 'voice', 'sip', true, 1, 'c', 'dialling', now(), 0, now(), now())`,
      [claimId],
    );
    return claimId;
  };
  const lease = (claimId: string) => capacity.leaseNumber(claimId, NUMBERS);
  const leased = async () => {
    const claimId = await attempt();
    return { claimId, number: await lease(claimId) };
  };
  const later = (seconds: number) =>
    query("UPDATE platform_calls SET number_until = number_until - $1 * interval '1 second'", [seconds]);

  it('are leased to one attempt at a time, however many ask at once, until it has ended and 30 s have passed', async () => {
    const attempts = await Promise.all(Array.from({ length: 12 }, attempt));
    const found = await Promise.all(attempts.map(lease));
    expect(found.filter((number) => number !== undefined).sort()).toEqual(NUMBERS);
    const claimId = attempts[found.indexOf(NUMBERS[1])]!;
    await capacity.expectCall(claimId, 150_000);
    await capacity.expectCall(claimId, 0);
    await capacity.release(claimId);
    expect((await leased()).number).toBeUndefined();
    await later(31);
    expect((await leased()).number).toBe(NUMBERS[1]);
    expect((await leased()).number).toBeUndefined();
  });

  it('expect nothing else as long as a call may come that was asked for and not seen, also after its process has died', async () => {
    const one = await leased();
    await capacity.expectCall(one.claimId, 150_000);
    await capacity.release(one.claimId);
    const others = [await leased(), await leased(), await leased()];
    expect(others.map(({ number }) => number)).toEqual([expect.anything(), expect.anything(), undefined]);
    await later(31);
    expect((await leased()).number).toBeUndefined();
    await later(120);
    expect((await leased()).number).toBe(one.number);
  });

  it('are chosen by how long they have been free', async () => {
    for (const number of NUMBERS) {
      const one = await leased();
      expect(one.number).toBe(number);
      await capacity.release(one.claimId);
      await later(number === NUMBERS[0] ? 60 : 40);
    }
    expect((await leased()).number).toBe(NUMBERS[0]);
  });

  it('are not leased to an attempt that lost its capacity', async () => {
    const claimId = await attempt();
    await capacity.release(claimId);
    expect(await lease(claimId)).toBeUndefined();
    expect((await leased()).number).toBe(NUMBERS[0]);
  });

  it('become free again if the call could not be ended', async () => {
    const one = await leased();
    for (let failures = 0; failures < 3; failures += 1) await capacity.endFailed(one.claimId);
    await later(1);
    expect([await leased(), await leased(), await leased()].map(({ number }) => number)).toContain(one.number);
  });
});
