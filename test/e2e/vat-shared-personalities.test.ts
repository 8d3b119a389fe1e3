import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startScriptedAgent } from '../simulators/agent/testing/scripted-agent.js';
import { createTestApp } from '../support/test-app.js';
import { vat } from '../support/vat.js';

const suite = (prompt: string) => `
personalities:
  - { name: Shared guest, prompt: ${prompt} }
  - { name: "Own \\e[31m guest", prompt: ${prompt} }
evaluations:
  - { key: shared, name: Greets, personality: Shared guest, scenarioText: You greet, script: [{ say: Hello }, { end: Done }], checks: [{ type: says, text: Welcome }] }
`;

describe('vat run --suite', () => {
  it('says before the import which personalities it changes for which other agents', async () => {
    const agent = await startScriptedAgent(() => 'Welcome!');
    const app = await createTestApp({ env: { OUTBOUND_ALLOWED_NETWORKS: '127.0.0.1/32' } });
    const folder = await mkdtemp(path.join(tmpdir(), 'vat-shared-'));
    try {
      const env = { VAT_URL: app.url, VAT_API_KEY: (await app.createWorkspace()).apiKey };
      const file = path.join(folder, 'suite.yaml');
      const run = async (name: string, prompt: string) => {
        await writeFile(file, suite(prompt));
        const created = await vat(['agent', 'create', '--name', name, '--address', agent.url], env);
        return vat(['run', '--agent', created.stdout.trim(), '--suite', file], env);
      };
      expect((await run('Bella Vista', 'Calm')).stderr).not.toContain('also used by');
      expect((await run('Trattoria', 'Calm')).stderr).not.toContain('also used by');
      const { code, stderr } = await run('Osteria', 'Hurried');
      expect(code).toBe(0);
      const note =
        /^Note: updated    personality "Shared guest", also used by 2 other agents: "(Bella Vista|Trattoria)", "(Bella Vista|Trattoria)"\nImported /m;
      expect(stderr).toMatch(note);
      expect(stderr).not.toContain('personality "Own');
    } finally {
      await Promise.all([app.close(), agent.close(), rm(folder, { recursive: true })]);
    }
  });
});
