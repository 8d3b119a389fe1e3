import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { WireModule } from '../../modules/module.js';

type Described = Pick<WireModule, 'name' | 'options' | 'defaultUrl'>;

/** A suite for the spec of a platform with protocols for both media: the guide says what the modules say. */
export function guideOf(file: string, voice: Described & Pick<WireModule, 'findings'>, text: Described): void {
  const guide = readFileSync(path.resolve('docs/guides', file), 'utf8');
  const rows = guide
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map((line) => line.split('|').map((cell) => cell.trim()));

  describe(`the guide ${file}`, () => {
    it('lists every finding with severity, meaning and source', () => {
      const listed = rows
        .map((row) => row.slice(1, 5))
        .filter(([code = '', severity = '']) => /^`\w+`$/.test(code) && /^(error|warning)$/.test(severity));
      expect(listed).toEqual(
        Object.entries(voice.findings).map(([code, { severity, meaning, source }]) => [
          `\`${code}\``,
          severity,
          meaning,
          source,
        ]),
      );
    });

    it('lists every option with its protocol, and the default address', () => {
      for (const name of Object.keys({ ...voice.options, ...text.options })) {
        const of = [voice, text].filter(({ options }) => name in options);
        const protocol = of.length === 2 ? 'both' : `\`${of[0]!.name}\``;
        expect(rows.some(([, cell, owner]) => cell === `\`${name}\`` && owner === protocol)).toBe(true);
      }
      expect(guide).toContain(`\`${voice.defaultUrl}\``);
    });
  });
}
