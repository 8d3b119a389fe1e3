import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { ElevenLabsServer } from '../../libs/simulation/testing/elevenlabs.js';
import { VapiServer } from '../../libs/simulation/testing/vapi.js';
import type { KeptCall, KeptCalls } from '../simulators/records/kept-calls.js';
import { retellRecord } from '../simulators/retell/records.js';
import { RetellServer } from '../simulators/retell/server.js';
import { vapiRecord } from '../simulators/vapi/records.js';
import { compilerErrors } from '../support/vendor-types.js';

const KEY = 'key_of_the_test_1234567890';
const AGENT = 'agent_01';
const NOON = Date.UTC(2026, 10, 20, 12);
const FROM = NOON - 3_600_000;
const UNTIL = NOON + 3_600_000;
const vendorFile = (vendor: string, file: string) => path.resolve(__dirname, `../${vendor}-agent/${file}`);
const VAPI_TYPES = vendorFile('vapi', 'node_modules/@vapi-ai/server-sdk/dist/cjs/api/types/index.d.ts');
const RETELL_TYPES = vendorFile('retell', 'node_modules/retell-sdk/resources/call');
const isInstalled = [VAPI_TYPES, `${RETELL_TYPES}.d.ts`, vendorFile('elevenlabs', 'node_modules')].every(existsSync);
const mustRun = process.env['REQUIRE_ALL_TESTS'] === 'true';
if (!isInstalled && !mustRun) {
  console.warn('Skipped: records by the SDKs of vendors, because they are not installed (npm ci in test/*-agent)');
}

const CALLS: readonly KeptCall[] = [0, 1, 2].map((index) => ({
  ...{ id: `call_${index}`, agent: AGENT, startedAt: NOON + index * 60_000, endedAt: NOON + index * 60_000 + 41_000 },
  lines: [
    { speaker: 'agent', text: 'Good evening.', startMs: 1_000, endMs: 3_000 },
    { speaker: 'caller', text: 'A table for four, please.', startMs: 4_000, endMs: 6_000 },
  ],
  tools: [{ id: `t${index}`, name: 'find_table', arguments: { people: 4 }, result: '{"table":7}', startMs: 7_000 }],
  ...{ latencies: [900], callerNumber: '+15550123', attempt: 'b3b0c2a4-6e9f-4d53-9a53-7f6f3a0c9d11' },
  sound: Buffer.from('RIFF'),
}));

/** What the SDK of a vendor reads of the double. */
async function readBySdk(vendor: string, args: readonly unknown[]): Promise<{ record: any; sound?: string }[]> {
  const env = { PATH: process.env['PATH'], RETELL_API_KEY: KEY };
  const command = [vendorFile(vendor, 'records.mjs'), ...args.map(String)];
  const { stdout } = await promisify(execFile)(process.execPath, command, { env, timeout: 60_000 });
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { record: object; sound?: string });
}

function typeErrors(types: string, lines: readonly string[]): string[] {
  const folder = mkdtempSync(path.join(tmpdir(), 'record-types-'));
  const found = compilerErrors(path.join(folder, 'values.ts'), types, lines);
  rmSync(folder, { recursive: true });
  return found;
}

(isInstalled || mustRun ? describe : describe.skip)('the records of the doubles', () => {
  let double: { readonly url: string; readonly kept: KeptCalls; stop(): Promise<void> };
  const keep = (started: typeof double) => {
    double = started;
    double.kept.keep(...CALLS);
  };
  const ids = CALLS.map(({ id }) => id);
  afterEach(() => double.stop());

  it('are read by the SDK of Vapi, with a recording that it is led to', async () => {
    keep(await VapiServer.start({ apiKey: KEY }));
    const dates = [FROM, UNTIL].map((at) => new Date(at).toISOString());
    const read = await readBySdk('vapi', [double.url, KEY, AGENT, ...dates]);
    expect(read.map(({ record }) => record.id as string).sort()).toEqual(ids);
    expect(read[0]!.record.artifact.messages).toHaveLength(5);
    expect(read[0]!.sound).toMatch(/\/recordings\/call_\d-/);
  });

  it('are read by the SDK of Retell, over pages', async () => {
    keep(await RetellServer.start({ apiKey: KEY }));
    const read = await readBySdk('retell', [double.url, AGENT, FROM, UNTIL]);
    expect(read.map(({ record }) => record.call_id as string)).toEqual(ids);
    expect(read[0]!.record.transcript_with_tool_calls).toHaveLength(4);
  });

  it('are read by the SDK of ElevenLabs, which checks them, over pages', async () => {
    keep(await ElevenLabsServer.start({ apiKey: KEY }));
    const read = await readBySdk('elevenlabs', [double.url, KEY, AGENT, FROM / 1_000, UNTIL / 1_000]);
    expect(read.map(({ record }) => record.conversationId as string).sort()).toEqual(ids);
    expect(read[0]!.record.transcript[2].toolCalls[0]).toMatchObject({ toolName: 'find_table' });
  });

  it('fit the typings of Vapi and Retell', async () => {
    keep(await VapiServer.start());
    const [phone, web] = [CALLS[0]!, { ...CALLS[0]!, callerNumber: undefined as never }];
    const value = (type: string, record: object) => `export const a: ${type} = ${JSON.stringify(record)};`;
    expect(typeErrors(VAPI_TYPES, [value('types.Call', vapiRecord(phone))])).toEqual([]);
    for (const call of [phone, web]) {
      const record = retellRecord(call, 'https://recordings.example/stereo.wav');
      expect(typeErrors(`${RETELL_TYPES}.js`, [value('types.CallResponse', record)])).toEqual([]);
    }
    // The check finds what is wrong.
    expect(typeErrors(VAPI_TYPES, [value('types.Call', { ...vapiRecord(phone), status: 'over' })])).toHaveLength(1);
  }, 60_000);
});
