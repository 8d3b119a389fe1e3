import { readFileSync } from 'node:fs';
import path from 'node:path';
import { sip } from './index.js';

const guide = readFileSync(path.resolve(__dirname, '../../../../../docs/guides/sip.md'), 'utf8');
const rows = guide
  .split('\n')
  .filter((line) => line.startsWith('|'))
  .map((line) => line.split('|').map((cell) => cell.trim()));

describe('the guide to SIP', () => {
  it('lists every finding with severity, meaning and source', () => {
    const listed = rows
      .map((row) => row.slice(1, 5))
      .filter(([code = '', severity = '']) => /^`\w+`$/.test(code) && /^(error|warning)$/.test(severity));
    expect(listed).toEqual(
      Object.entries(sip.findings).map(([code, { severity, meaning, source }]) => [
        `\`${code}\``,
        severity,
        meaning,
        source,
      ]),
    );
  });

  it('lists every option', () => {
    for (const name of Object.keys(sip.options)) expect(rows.some(([, cell]) => cell === `\`${name}\``)).toBe(true);
  });
});
