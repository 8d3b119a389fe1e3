import type { ProductionCall } from '../modules/records.js';
import { ownRecord } from './own-record.js';
import { AGENT, ATTEMPT, booked, close, failureOf, open } from './testing/kept-records.js';

const OTHER = '0b7f8a52-77d1-4a0e-8b5e-1f8d0a6c9e21';
const NAMES = ['vapi', 'retell'] as const;
afterEach(close);

/** A call that has ended just now. */
const over = (index: number, more: object = {}) => {
  const now = Date.now();
  return booked(index, { startedAt: now - 42_000, endedAt: now - 1_000, ...more });
};

async function world(name: (typeof NAMES)[number], ...calls: Parameters<typeof booked>[1][]) {
  const { records, request, kept } = await open(name, ...calls.map((more, index) => over(index, more)));
  const { endpoint, client } = request();
  const call = { client, assistantId: AGENT, phoneNumber: '', workspaceId: 'w-1', callId: ATTEMPT.toUpperCase() };
  const read = (id?: string | null, { ms = 3_000, ...more }: { ms?: number; assistantId?: string } = {}) =>
    ownRecord(records, endpoint, { ...call, ...more }, AbortSignal.timeout(ms), id);
  return { kept, read };
}

describe.each(NAMES)('the record of a call of this service at %s', (name) => {
  const idOf = async (found: Promise<ProductionCall | null>) => (await found)?.id;

  it('is found among calls of the same time by the mark of its attempt', async () => {
    const { read } = await world(name, { attempt: OTHER }, { attempt: ATTEMPT }, {});
    expect(await read()).toMatchObject({
      ...{ id: 'call_1', attemptId: ATTEMPT },
      toolCalls: [{ name: 'find_table', arguments: { people: 4 } }],
    });
  });

  it.each([
    {
      vapi: { assistantOverrides: { variableValues: { vat_call: ATTEMPT } } },
      retell: { metadata: { vat_call: ATTEMPT } },
    },
    {
      vapi: { phoneCallProviderDetails: { sip: { headers: { 'X-Vat-Call': ATTEMPT } } } },
      retell: { custom_sip_headers: { 'x-vat-call': ATTEMPT } },
    },
    { vapi: { name: `vat:${ATTEMPT}` }, retell: { retell_llm_dynamic_variables: { 'vat-call': ATTEMPT } } },
  ])('is found wherever the platform writes the mark: %j', async (fields) => {
    const { read } = await world(name, {}, { fields: fields[name] });
    expect(await idOf(read())).toBe('call_1');
  });

  it('is found although it comes late', async () => {
    const { read, kept } = await world(name, {});
    setTimeout(() => kept.keep(over(7, { attempt: ATTEMPT })), 500);
    expect(await idOf(read(null, { ms: 8_000 }))).toBe('call_7');
  });

  it('is none if no call has the mark, also if it is the only one', async () => {
    const { read } = await world(name, { attempt: OTHER });
    expect(await read(null, { ms: 500 })).toBeNull();
  });

  it('is none under the id of another assistant', async () => {
    const { read } = await world(name, { attempt: ATTEMPT });
    expect(await read(null, { ms: 500, assistantId: 'another' })).toBeNull();
  });

  it('is that of its id, whatever mark it has', async () => {
    const { read } = await world(name, { attempt: ATTEMPT }, {});
    expect(await idOf(read('call_1'))).toBe('call_1');
  });

  it('is not that of another call with which the platform answers', async () => {
    const { read } = await world(name, { fields: { [name === 'vapi' ? 'id' : 'call_id']: 'call_of_others' } });
    await expect(read('call_0', { ms: 3_000 })).rejects.toThrow();
  });

  it('is an error if the platform refuses to list the calls', async () => {
    const { read, kept } = await world(name, { attempt: ATTEMPT });
    kept.faults.refusals = [{ status: 403 }];
    expect(await failureOf(read())).toMatchObject({ code: 'platform_refused', status: 403 });
  });

  it('is awaited after its call was found, and then given up with an error', async () => {
    const { read, kept } = await world(name, { attempt: ATTEMPT, lines: [], tools: [] });
    await expect(read(null, { ms: 500 })).rejects.toThrow();
    expect(kept.askedAt.length).toBeGreaterThan(1);
  });
});
