import { readFileSync } from 'node:fs';
import path from 'node:path';
import { FAULT_NAMES } from '../agent/faults.js';
import { VOICE_FAULT_NAMES } from '../agent/voice/voice-faults.js';
import { ELEVENLABS_FAULT_NAMES } from './elevenlabs-faults.js';
import { faultTable } from './fault-table.js';

const cells = (table: string) =>
  table
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map((line) => line.split('|').map((cell) => cell.trim()));

describe('the table of faults in the guide to ElevenLabs', () => {
  it('is what is expected of the reference agent (npm run accuracy -- --elevenlabs --write)', () => {
    const guide = readFileSync(path.resolve(__dirname, '../../../docs/guides/elevenlabs.md'), 'utf8');
    const [, table = ''] = /<!-- faults begin -->([^]*)<!-- faults end -->/.exec(guide) ?? [];
    const isText = ([, , effect]: string[]) => !/^[-: ]*$/.test(effect ?? '');
    expect(cells(table).filter(isText)).toEqual(cells(faultTable()).filter(isText));
  });

  it('names every fault of the reference agent over text and voice', () => {
    const names = cells(faultTable()).map(([, name]) => name);
    for (const fault of [...FAULT_NAMES, ...VOICE_FAULT_NAMES, ...ELEVENLABS_FAULT_NAMES]) {
      expect(names).toContain(`\`${fault}\``);
    }
  });
});
