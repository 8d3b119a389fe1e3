import { judgeMessages } from './prompt.js';

const QUESTION = { statement: 'It books.', transcript: '{}', context: '', language: 'English' };
const systemOf = (voice?: NonNullable<Parameters<typeof judgeMessages>[0]['voice']>): string =>
  judgeMessages({ ...QUESTION, ...(voice && { voice }) })[0]!.content;

describe('the instructions of the judge', () => {
  it('say where the words of a voice call come from, and not to hold misheard ones against the agent', () => {
    const byWire = systemOf({ isUnclear: false, source: 'wire', hasInterruptions: false });
    expect(byWire).toContain('its platform reported the words');
    expect(byWire).not.toContain('misheard');
    const heard = systemOf({ isUnclear: false, source: 'recogniser', hasInterruptions: false });
    expect(heard).toContain('software transcribed the words');
    expect(heard).toContain('do not hold that against the agent');
    expect(heard).not.toContain('its platform reported');
    expect(systemOf()).not.toContain('voice call, and');
  });
});
