import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { FAULT_NAMES } from './faults.js';
import { agentProgram, faultList } from './program.js';
import type { ReferenceAgentServerOptions } from './server.js';

/** What the command line makes of its words: the options of the server, or what it says about a mistake. */
async function run(...words: string[]) {
  const started: ReferenceAgentServerOptions[] = [];
  const errors: string[] = [];
  const listeners = process.listeners('SIGTERM').length;
  const program = agentProgram(async (options = {}) => {
    started.push(options);
    return { url: 'http://127.0.0.1:1', close: async () => undefined };
  });
  program.configureOutput({ writeErr: (text) => void errors.push(text) });
  const output = jest.spyOn(process.stdout, 'write').mockReturnValue(true);
  try {
    await program.parseAsync(words, { from: 'user' }).catch(() => undefined);
    return { started, errors: errors.join(''), printed: output.mock.calls.join('') };
  } finally {
    output.mockRestore();
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      for (const listener of process.listeners(signal).slice(listeners)) process.off(signal, listener);
    }
  }
}

describe('agentProgram', () => {
  it('starts the sound agent, and one with a fault and its times', async () => {
    expect((await run()).started).toEqual([
      { port: 4010, host: '127.0.0.1', latencyMs: 0, slowMs: 2_500, tokensPerSecond: 0 },
    ]);
    const words = ['--fault', 'slow-answer', '--port', '0', '--slow-ms', '900', '--tokens-per-second', '20'];
    expect((await run(...words)).started).toMatchObject([
      { fault: 'slow-answer', port: 0, slowMs: 900, tokensPerSecond: 20 },
    ]);
  });

  it.each([
    [['--fault', 'nonsense'], /The faults are slow-answer, /],
    [['--port', '70000'], /whole number from 0 to 65535/],
    [['--latency-ms', '-1'], /whole number/],
    [['--colour', 'red'], /unknown option/],
    [['more'], /too many arguments/],
  ])('explains what is wrong with %p', async (words, expected) => {
    const { started, errors } = await run(...words);
    expect(errors).toMatch(expected);
    expect(started).toEqual([]);
  });

  it('lists every fault and starts nothing', async () => {
    const { started, printed } = await run('--list-faults');
    expect(started).toEqual([]);
    expect(printed).toBe(`${faultList()}\n`);
    for (const fault of FAULT_NAMES) expect(printed).toContain(`${fault}\n`);
  });

  it('says so when the port is taken', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    try {
      await new Promise((resolve) => other.once('listening', resolve));
      const { port } = other.address() as AddressInfo;
      const program = agentProgram().parseAsync(['--port', String(port)], { from: 'user' });
      await expect(program).rejects.toThrow(`127.0.0.1:${port} is in use; choose another --port`);
    } finally {
      other.close();
    }
  });
});
