import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { FAULT_NAMES } from './faults.js';
import { agentProgram, faultList } from './program.js';
import type { ReferenceAgentServerOptions } from './server.js';
import { REALTIME_FAULT_NAMES } from '../openai-realtime/realtime-faults.js';
import type { TranscriptionOptions } from './voice/transcription.js';
import { VOICE_FAULT_NAMES } from './voice/voice-faults.js';

/** Runs the CLI with these arguments. @returns the options of the started server, errors and output */
async function run(...args: string[]) {
  const started: ReferenceAgentServerOptions[] = [];
  const servers: TranscriptionOptions[] = [];
  const errors: string[] = [];
  const listeners = process.listeners('SIGTERM').length;
  const program = agentProgram(
    async (options = {}) => {
      started.push(options);
      return { url: 'http://127.0.0.1:1', close: async () => undefined };
    },
    async (options) => {
      servers.push(options);
      return { url: 'http://127.0.0.1:2', close: async () => undefined };
    },
  );
  program.configureOutput({ writeErr: (text) => void errors.push(text) });
  const output = jest.spyOn(process.stdout, 'write').mockReturnValue(true);
  try {
    await program.parseAsync(args, { from: 'user' }).catch(() => undefined);
    return { started, servers, errors: errors.join(''), printed: output.mock.calls.join('') };
  } finally {
    output.mockRestore();
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      for (const listener of process.listeners(signal).slice(listeners)) process.off(signal, listener);
    }
  }
}

describe('agentProgram', () => {
  it('starts the agent without faults by default, or with the given fault and delays', async () => {
    expect((await run()).started).toEqual([
      {
        port: 4010,
        host: '127.0.0.1',
        latencyMs: 0,
        slowMs: 2_500,
        tokensPerSecond: 0,
        telephone: { slowMs: 2_500, prepare: expect.any(Function) },
      },
    ]);
    const args = ['--fault', 'slow-answer', '--port', '0', '--slow-ms', '900', '--tokens-per-second', '20'];
    expect((await run(...args)).started).toMatchObject([
      { fault: 'slow-answer', port: 0, slowMs: 900, tokensPerSecond: 20, telephone: { fault: 'slow-answer' } },
    ]);
  });

  it('has real callers as an agent of Retell only', async () => {
    expect((await run('--as', 'retell', '--real-callers')).started[0]?.retell).toMatchObject({ callsEveryMs: 20_000 });
    expect((await run('--real-callers')).started).toEqual([]);
  });

  it('plants the faults of text and telephone where they belong', async () => {
    const [text] = (await run('--fault', 'wrong-fact')).started;
    expect([text?.fault, text?.telephone?.fault]).toEqual(['wrong-fact', 'wrong-fact']);
    const [http] = (await run('--fault', 'cut-stream')).started;
    expect([http?.fault, http?.telephone?.fault]).toEqual(['cut-stream', undefined]);
    const [voice] = (await run('--fault', 'no-clear', '--response-ms', '800', '--auth-token', 'secret')).started;
    expect(voice?.fault).toBeUndefined();
    expect(voice?.telephone).toMatchObject({ fault: 'no-clear', responseMs: 800, authToken: 'secret' });
  });

  it('is an agent of ElevenLabs, with the faults that it can have there', async () => {
    const args = ['--as', 'elevenlabs', '--auth-token', 'secret'];
    const { started, printed } = await run(...args, '--fault', 'false-interruption');
    expect(started[0]).toMatchObject({ elevenlabs: { fault: 'false-interruption', apiKey: 'secret' } });
    expect(started[0]).not.toHaveProperty('telephone');
    expect(printed).toContain('/v1/convai/conversation/get-signed-url?agent_id=booking');
    const [words] = (await run(...args, '--fault', 'wrong-fact')).started;
    expect([words?.fault, words?.elevenlabs?.fault]).toEqual(['wrong-fact', 'wrong-fact']);
    expect((await run(...args, '--fault', 'wrong-stream-sid')).started).toEqual([]);
    expect((await run('--fault', 'false-interruption')).started).toEqual([]);
  });

  it('is an assistant of Vapi, with the faults that it can have there', async () => {
    const args = ['--as', 'vapi', '--auth-token', 'secret', '--fault'];
    const { started, printed } = await run(...args, 'broken-message');
    expect(started).toMatchObject([{ vapi: { fault: 'broken-message', apiKey: 'secret' } }]);
    expect(printed).toContain('POST http://127.0.0.1:1/chat ');
    expect((await run(...args, 'wrong-correction')).started).toEqual([]);
  });

  it('is a transcription server instead of an agent, and says how it is used', async () => {
    const { started, printed, servers } = await run('--as', 'transcription-server', '--port', '4012');
    expect([started, servers]).toEqual([[], [expect.objectContaining({ port: 4012, host: '127.0.0.1' })]]);
    expect(printed).toContain('STT_BASE_URL=http://127.0.0.1:2 STT_MODEL=reference-agent');
    const program = agentProgram(undefined, () => Promise.reject(new Error('It was started')));
    const args = ['--as', 'transcription-server', '--fault', 'loops'];
    await expect(program.parseAsync(args, { from: 'user' })).rejects.toThrow('--fault loops is a fault of the agent');
  });

  it('prints the addresses of text and telephone', async () => {
    const { printed } = await run();
    expect(printed).toContain('POST http://127.0.0.1:1/v1/chat/completions');
    expect(printed).toContain('POST http://127.0.0.1:1/voice ');
  });

  it.each([
    ['twilio-media-streams', 'no-clear', 'cut-stream'],
    ['twilio-media-streams', 'wrong-fact', 'no-answer'],
    ['openai-realtime', 'wrong-fact', 'no-clear'],
    ['elevenlabs', 'false-interruption', 'no-clear'],
    ['vapi', 'no-word-messages', 'no-clear'],
  ])('names the faults that exist over %s', async (platform, fault, other) => {
    const { printed } = await run('--as', platform);
    const names = new RegExp(`^  ${platform}: (.*)$`, 'm').exec(printed)?.[1]?.split(', ');
    expect(names).toContain(fault);
    expect(names).not.toContain(other);
  });

  it('is a Realtime server instead of an agent on the telephone, with the faults that exist there', async () => {
    const args = ['--as', 'openai-realtime', '--auth-token', 'secret', '--fault'];
    const { started, printed } = await run(...args, 'no-answer');
    expect(started).toMatchObject([{ realtime: { fault: 'no-answer', apiKey: 'secret', slowMs: 2_500 } }]);
    expect(started[0]!.telephone).toBeUndefined();
    expect(printed).toContain('ws://127.0.0.1:1/v1/realtime?model=booking ');
    for (const [platform, fault] of [
      ['openai-realtime', 'no-clear'],
      ['twilio-media-streams', 'no-answer'],
    ] as const) {
      const program = agentProgram(() => Promise.reject(new Error('It was started')));
      await expect(program.parseAsync(['--as', platform, '--fault', fault], { from: 'user' })).rejects.toThrow(
        `--fault ${fault} is not a fault of an agent with --as ${platform}`,
      );
    }
    expect((await run('--as', 'sip')).errors).toMatch(/Allowed choices are twilio-media-streams, openai-realtime/);
  });

  it.each([
    [['--fault', 'nonsense'], /Valid faults: slow-answer, /],
    [['--port', '70000'], /whole number from 0 to 65535/],
    [['--latency-ms', '-1'], /whole number/],
    [['--colour', 'red'], /unknown option/],
    [['more'], /too many arguments/],
  ])('explains the invalid arguments %p', async (args, expected) => {
    const { started, errors } = await run(...args);
    expect(errors).toMatch(expected);
    expect(started).toEqual([]);
  });

  it('lists every fault without starting a server', async () => {
    const { started, printed } = await run('--list-faults');
    expect(started).toEqual([]);
    expect(printed).toBe(`${faultList()}\n`);
    for (const fault of [...FAULT_NAMES, ...VOICE_FAULT_NAMES, ...REALTIME_FAULT_NAMES])
      expect(printed).toContain(`${fault}\n`);
  });

  it('reports a port that is already in use', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    try {
      await new Promise((resolve) => other.once('listening', resolve));
      const { port } = other.address() as AddressInfo;
      const program = agentProgram().parseAsync(['--port', String(port)], { from: 'user' });
      await expect(program).rejects.toThrow(`127.0.0.1:${port} is already in use; choose another --port`);
    } finally {
      other.close();
    }
  });
});
