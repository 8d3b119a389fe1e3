import { readFileSync } from 'node:fs';
import path from 'node:path';
import { load } from 'js-yaml';

interface RuleFile {
  readonly groups: readonly { readonly rules: readonly { readonly alert: string; readonly expr: string }[] }[];
}

const guide = readFileSync(path.resolve(__dirname, '../../../docs/production.md'), 'utf8');
const metrics = new Set([...guide.matchAll(/^\| `(\w+)` +\| (?:gauge|counter|histogram) /gm)].map(([, name]) => name!));
const [scrape = '', rules = ''] = [...guide.matchAll(/^```yaml\n(.*?)^```$/gms)].map(([, text]) => text!);

describe('the metrics of docs/production.md', () => {
  it('have an example of a scrape configuration that is YAML', () => {
    expect(load(scrape)).toMatchObject({ scrape_configs: [{ job_name: 'voice-agent-testing' }] });
  });

  it('have alert rules that are YAML and use no other metrics than those of the table', () => {
    const alerts = (load(rules) as RuleFile).groups.flatMap((group) => group.rules);
    expect(alerts.length).toBeGreaterThan(5);
    for (const { expr } of alerts) {
      const names = [...expr.matchAll(/\b[a-z]+(?:_[a-z0-9]+){2,}\b/g)].map(([name]) => name);
      const unknown = names
        .map((name) => name.replace(/_(bucket|count|sum)$/, ''))
        .filter((name) => !metrics.has(name));
      expect(unknown).toEqual([]);
    }
  });
});
