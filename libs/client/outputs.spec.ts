import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { prepareOutputs, resultContents, writeAtomically, writeOutputs } from './outputs.js';
import type { Service } from './service.js';
import { summarise } from './summary.js';
import { callOf, runOf } from './testing/factories.js';

describe('output files', () => {
  let folder: string;
  const file = (name: string) => path.join(folder, name);
  const summary = summarise(runOf(), [callOf()]);
  const service = { junit: async () => '<testsuites/>', report: async () => Promise.reject(new Error('gone')) };
  const contents = resultContents(service as unknown as Service, summary);

  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'vat-outputs-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  it('replaces existing files, also behind symbolic links, and leaves no temporary files', async () => {
    await mkdir(file('real'));
    await writeFile(file('real/a'), 'a longer text than the new one');
    await symlink(file('real/a'), file('link'));
    await writeAtomically(file('link'), 'new');
    expect(await readFile(file('real/a'), 'utf8')).toBe('new');
    expect([...(await readdir(folder)), ...(await readdir(file('real')))].sort()).toEqual(['a', 'link', 'real']);
  });

  it('writes to devices directly', async () => {
    await writeAtomically('/dev/null', 'text');
    expect((await readdir('/dev')).filter((name) => name.startsWith('null.'))).toEqual([]);
  });

  it('appends to the step summary', async () => {
    await writeFile(file('summary'), 'before\n');
    const env = { GITHUB_STEP_SUMMARY: file('summary') };
    await writeOutputs(contents, { markdown: file('summary') }, env, 'vat status run');
    expect(await readFile(file('summary'), 'utf8')).toMatch(/^before\n### ✅ Nightly\n/);
  });

  it('writes the other files if one fails, and names the failed one', async () => {
    const files = { json: file('a/b/r.json'), report: file('r.html'), junit: file('r.xml') };
    await prepareOutputs(files);
    await expect(writeOutputs(contents, files, {}, 'vat status run')).rejects.toMatchObject({
      exitCode: 2,
      cure: 'Write them again with the same options: vat status run',
      details: [`${file('r.html')}: gone`],
    });
    expect(await readFile(files.junit, 'utf8')).toBe('<testsuites/>');
    expect(JSON.parse(await readFile(files.json, 'utf8'))).toEqual(summary);
  });

  it('rejects unwritable files before starting a run', async () => {
    await writeFile(file('plain'), '');
    await expect(prepareOutputs({ json: file('plain/r.json') })).rejects.toMatchObject({ exitCode: 3 });
    await expect(prepareOutputs({ junit: folder })).rejects.toMatchObject({ exitCode: 3 });
  });
});
