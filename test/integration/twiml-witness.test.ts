import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { documents, readDocument } from '../../libs/simulation/testing/twiml-documents.js';
import { shareOf } from '../../libs/statistics/testing/sample.js';
import { describeWith } from '../support/programs.js';

const FIXTURES = path.resolve(__dirname, '../fixtures/compatibility/twiml');

/** The documents that libxml refuses, by their names. */
function refusedByLibxml(folder: string, names: readonly string[]): string[] {
  const paths = names.map((name) => path.join(folder, name));
  const { stderr } = spawnSync('xmllint', ['--noout', '--nonet', ...paths], { encoding: 'utf8', maxBuffer: 2 ** 28 });
  const refused = stderr.matchAll(/^(.+?):\d+: parser error/gm);
  return [...new Set([...refused].map(([, file]) => path.basename(file!)))].sort();
}

/** All text of a document, and the value of its first attribute url, as libxml reads them. */
const readByLibxml = (bytes: Uint8Array): string =>
  spawnSync('xmllint', ['--nonet', '--xpath', "concat(string(/), '|', string((//@url)[1]))", '-'], {
    input: bytes,
    encoding: 'utf8',
  }).stdout;

describeWith('xmllint', 'TwiML and libxml', () => {
  // twilio/twilio-node#500, twilio/twilio-php#509, stevegraham/twilio-js#3, bmlt-enabled/yap#415, twilio/OpenVBX#185,
  // jpf/TwilioSheet#1, NaturalIntelligence/fast-xml-parser#214: what the strict parsers of Twilio and libxml refuse.
  it('refuse the same documents of the fixtures, except that a document type declaration is refused here', () => {
    const names = readdirSync(FIXTURES).sort();
    const refused = names.filter((name) => readDocument(readFileSync(path.join(FIXTURES, name))) === undefined);
    // Entities of a document type could grow without limit, and no TwiML has one.
    expect(refused).toEqual([...refusedByLibxml(FIXTURES, names), 'doctype.xml'].sort());
    expect(names.length - refused.length).toBeGreaterThan(10);
  });

  it('refuse the same of 2,000 generated documents', () => {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'twiml-'));
    const all = fc.sample(documents, { numRuns: shareOf(2_000), seed: 45 });
    const names = all.map((bytes, index) => {
      writeFileSync(path.join(folder, `${index}.xml`), bytes);
      return `${index}.xml`;
    });
    const refused = new Set(refusedByLibxml(folder, names));
    rmSync(folder, { recursive: true });
    const different = all.filter((bytes, index) => (readDocument(bytes) === undefined) !== refused.has(`${index}.xml`));
    expect(different.map((bytes) => bytes.toString('utf8'))).toEqual([]);
    const accepted = all.filter((_, index) => !refused.has(`${index}.xml`)).slice(0, shareOf(400));
    expect(
      accepted.filter((bytes) => readDocument(bytes) !== readByLibxml(bytes)).map((bytes) => bytes.toString('utf8')),
    ).toEqual([]);
    expect(refused.size).toBeGreaterThan(all.length / 8);
    expect(refused.size).toBeLessThan(all.length * (3 / 4));
  });
});
