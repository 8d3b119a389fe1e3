import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { Random } from '../../libs/audio/index.js';
import { DialectMaker, readByWire } from '../../libs/simulation/testing/wires.js';
import { shareOf } from '../../libs/statistics/testing/sample.js';

const FOLDER = path.resolve(__dirname, '../realtime-agent');
const DIALECTS = shareOf(2_000);
const LIMIT_MS = 300_000;

const isInstalled = existsSync(path.join(FOLDER, 'node_modules/@openai/agents'));
const mustRun = process.env['REQUIRE_ALL_TESTS'] === 'true';
if (!isInstalled && !mustRun) {
  console.warn(
    "Skipped: the client of OpenAI's Agents SDK as a witness, because it is not installed (cd test/realtime-agent && npm ci --legacy-peer-deps --ignore-scripts)",
  );
}

interface Read {
  readonly id: string;
  readonly words: string;
  /** Bytes of mu-law. */
  readonly audio: number;
  readonly calls: readonly (readonly [id: string, called: readonly [name: string, json: string]])[];
}

/** What OpenAI's own client reads of the same messages, over a socket. */
function readByClient(cases: readonly (readonly (string | Uint8Array)[])[]): Promise<Read[]> {
  const lines = cases.map((messages, id) => {
    const sent = messages.map((one) =>
      typeof one === 'string' ? one : { base64: Buffer.from(one).toString('base64') },
    );
    return JSON.stringify({ id, messages: sent });
  });
  return new Promise((resolve, reject) => {
    const options = { timeout: LIMIT_MS, maxBuffer: 1 << 28 };
    const reader = execFile(process.execPath, [path.join(FOLDER, 'reader.mjs')], options, (error, stdout, stderr) => {
      if (error) return reject(new Error(`The reader failed: ${stderr}`, { cause: error }));
      const printed = stdout.split('\n').filter((line) => line.startsWith('{'));
      return resolve(printed.map((line) => JSON.parse(line) as Read));
    });
    reader.stdin!.end(lines.join('\n'));
  });
}

(isInstalled || mustRun ? describe : describe.skip)("OpenAI's own client as a witness", () => {
  // Each difference is named by the maker of the dialect. In all of them the platform has said what this service reads: OpenAI's
  // guide takes calls from response.done, too, and servers that leave out ids, status or deltas are in use.
  it(
    `reads the same words, audio and calls in ${DIALECTS} random dialects, but for named differences`,
    async () => {
      const maker = new DialectMaker(new Random(46));
      const dialects = Array.from({ length: DIALECTS }, () => maker.make());
      const found = await readByClient(dialects.map(({ messages }) => messages));
      expect(found).toHaveLength(DIALECTS);
      let same = 0;
      for (const { id, ...byClient } of found) {
        const dialect = dialects[Number(id)]!;
        const ours = await readByWire(dialect);
        const read = { words: ours.words, ms: Math.round(ours.audioMs), calls: ours.calls.map(String).sort() };
        const client = {
          words: byClient.words,
          ms: Math.round(byClient.audio / 8),
          calls: byClient.calls.map(([, called]) => String(called)).sort(),
        };
        if (dialect.differences.length === 0) {
          expect({ id, ...client }).toEqual({ id, ...read });
          same += 1;
        }
        // What the client reads, the service reads, too.
        expect(read.calls).toEqual(expect.arrayContaining(client.calls));
        expect(read.words.startsWith(client.words) || client.words === '').toBe(true);
        expect(read.ms).toBeGreaterThanOrEqual(client.ms);
      }
      expect(same).toBeGreaterThan(DIALECTS / 5);
    },
    LIMIT_MS,
  );
});
