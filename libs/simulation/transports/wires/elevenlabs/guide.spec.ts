import { readFileSync } from 'node:fs';
import path from 'node:path';
import { elevenlabs, elevenlabsText } from './index.js';

const guide = readFileSync(path.resolve(__dirname, '../../../../../docs/guides/elevenlabs.md'), 'utf8');
const rows = guide
  .split('\n')
  .filter((line) => line.startsWith('|'))
  .map((line) => line.split('|').map((cell) => cell.trim()));

describe('the guide to ElevenLabs Agents', () => {
  it('lists every finding with severity, meaning and source', () => {
    const listed = rows
      .map((row) => row.slice(1, 5))
      .filter(([code = '', severity = '']) => /^`\w+`$/.test(code) && /^(error|warning)$/.test(severity));
    expect(listed).toEqual(
      Object.entries(elevenlabs.findings).map(([code, { severity, meaning, source }]) => [
        `\`${code}\``,
        severity,
        meaning,
        source,
      ]),
    );
  });

  it('lists every option with its protocol, and the default address', () => {
    for (const name of Object.keys({ ...elevenlabs.options, ...elevenlabsText.options })) {
      const of = [elevenlabs, elevenlabsText].filter(({ options }) => name in options);
      const protocol = of.length === 2 ? 'both' : `\`${of[0]!.name}\``;
      expect(rows.some(([, cell, owner]) => cell === `\`${name}\`` && owner === protocol)).toBe(true);
    }
    expect(guide).toContain(`\`${elevenlabs.defaultUrl}\``);
  });
});
