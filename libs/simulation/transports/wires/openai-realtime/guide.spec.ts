import { readFileSync } from 'node:fs';
import path from 'node:path';
import { openaiRealtime } from './index.js';

const guide = readFileSync(path.resolve(__dirname, '../../../../../docs/guides/realtime.md'), 'utf8');
const rows = guide
  .split('\n')
  .filter((line) => line.startsWith('|'))
  .map((line) => line.split('|').map((cell) => cell.trim()));

describe('the guide to OpenAI Realtime', () => {
  it('lists every finding of Realtime with severity, meaning and source', () => {
    const listed = rows.filter(([, code]) => /^`\w+_\w+`$/.test(code ?? '')).map((row) => row.slice(1, 5));
    expect(listed).toEqual(
      Object.entries(openaiRealtime.findings).map(([code, { severity, meaning, source }]) => [
        `\`${code}\``,
        severity,
        meaning,
        source,
      ]),
    );
  });

  it('lists every option, and the default address', () => {
    for (const name of Object.keys(openaiRealtime.options)) {
      expect(rows.some(([, cell = '']) => cell === `\`${name}\``)).toBe(true);
    }
    expect(guide).toContain(`\`${openaiRealtime.defaultUrl}\``);
  });
});
