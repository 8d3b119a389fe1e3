import { PassThrough } from 'node:stream';
import { confirmation } from './confirmation.js';

const terminal = () => Object.assign(new PassThrough(), { isTTY: true });

describe('a confirmation', () => {
  it.each([
    ['y\n', true],
    [' YES \n', true],
    ['n\n', false],
    ['\n', false],
    ['yet\n', false],
    ['', false],
  ])('is asked for on a terminal: %j', async (answer, expected) => {
    const [input, output] = [terminal(), terminal()];
    const asked = confirmation(input, output).confirm!('Dial?');
    input.end(answer);
    await expect(asked).resolves.toBe(expected);
    expect(String(output.read())).toBe('Dial? [y/N] ');
  });

  it('is refused by SIGINT, and the signal has its effect elsewhere', async () => {
    let interrupted = 0;
    const count = () => void interrupted++;
    process.on('SIGINT', count);
    const asked = confirmation(terminal(), terminal()).confirm!('Dial?');
    process.emit('SIGINT');
    await expect(asked).resolves.toBe(false);
    process.off('SIGINT', count);
    expect(interrupted).toBe(1);
  });

  it('is not asked for without a terminal on both sides', () => {
    expect(confirmation(new PassThrough(), terminal())).toEqual({});
    expect(confirmation(terminal(), new PassThrough())).toEqual({});
  });
});
