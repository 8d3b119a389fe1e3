import { type DefinitionInput, normalise } from '../../evaluation-definition/index.js';
import { afterAttempt, type CallResult, executeCall } from '../index.js';
import { agentSaying, call } from '../testing/calls.js';
import { virtualCalls, type VirtualCallOptions } from '../voice/call/virtual-call.js';
import { rawWire } from '../voice/testing/raw-wire.js';
import { cued, SOUNDS } from '../voice/testing/virtual-calls.js';

const LINE = 'A table for four ...';
const required = { required: true, weight: 1 };
const QUICK = { type: 'max_silence_ms', ms: 20_000, ...required } as const;

function voiceCall(definition: DefinitionInput, agent: VirtualCallOptions['agent']): Promise<CallResult> {
  return executeCall({
    definition: normalise(definition),
    scenario: { scenarioText: 'You want a table.' },
    personality: { name: 'Caller' },
    transport: virtualCalls({ wire: rawWire, agent }),
    voice: { sounds: SOUNDS, voice: 'any' },
  });
}

describe('a voice call that tested nothing', () => {
  const script = [{ say: LINE }];
  const notExercised = (reason: string) => ({
    outcome: 'error',
    score: null,
    failure: { code: 'not_exercised', retryable: false },
    reason: expect.stringMatching(new RegExp(`^${reason}`)) as string,
  });

  it('never passes when the agent closes the stream at once', async () => {
    const result = await voiceCall({ script, checks: [QUICK] }, cued({ atMs: 100, close: 1000 }));
    expect(result).toMatchObject(notExercised('The agent closed the stream 0\\.1 s after it began'));
    expect(afterAttempt(result, [])).toMatchObject({ next: 'end' });
  });

  it('never passes without checks either', async () => {
    const agent = cued({ atMs: 100, playMs: 500 }, { atMs: 900, close: 1000 });
    expect(await voiceCall({ script }, agent)).toMatchObject(
      notExercised(
        'The agent was heard for 0\\.5 s and closed the stream 0\\.9 s after it began: the caller had not said',
      ),
    );
  });

  it('never passes when the agent hangs up during the first line', async () => {
    const agent = cued({ atMs: 100, playMs: 500 }, { atMs: 1_500, close: 1000 });
    const result = await voiceCall({ script, checks: [QUICK] }, agent);
    expect(result).toMatchObject(notExercised('The agent was heard .*the caller had not finished its first line'));
  });

  it('is failed by a required check that failed, with the cause before it', async () => {
    const checks = [{ type: 'ends_by', by: 'caller', name: 'Stays', ...required } as const];
    const result = await voiceCall({ script, checks }, cued({ atMs: 100, close: 1000 }));
    expect(result).toMatchObject({ outcome: 'failed', score: 0 });
    expect(result.reason).toMatch(/^The agent closed the stream 0\.1 s after it began: .* Not met: Stays/);
  });

  it('never passes when the agent does nothing until a limit', async () => {
    const checks = [{ type: 'never_calls_tool', tool: 'x', ...required } as const];
    const result = await voiceCall({ script, checks, maxDurationSeconds: 9 }, cued());
    expect(result).toMatchObject(
      notExercised('The agent was not heard, and the call reached its maximum duration: nothing was tested'),
    );
  });

  it('says that all sound of the agent was too quiet', async () => {
    const agent = cued({ atMs: 4_500, playMs: 1_000, dbfs: -70 });
    const result = await voiceCall({ script, maxDurationSeconds: 9 }, agent);
    expect(result).toMatchObject(notExercised('The agent sent sound that is too quiet to be heard'));
  });

  it('is exercised by a hang-up that a check names, without a line to say', async () => {
    const checks = [{ type: 'ends_by', by: 'agent', ...required } as const];
    const agent = cued({ atMs: 2_000, close: 1000 });
    expect(await voiceCall({ script: [{ waitSeconds: 5 }], checks }, agent)).toMatchObject({ outcome: 'passed' });
    expect(await voiceCall({ script: [{ waitSeconds: 5 }] }, agent)).toMatchObject(
      notExercised('The agent closed the stream 2\\.0 s after it began: nothing was tested'),
    );
  });

  it('is not exercised by keys that were not all pressed', async () => {
    const keys = [{ press: '123#' }, { say: LINE }];
    const agent = cued({ atMs: 100, playMs: 500 }, { atMs: 1_600, close: 1000 });
    expect(await voiceCall({ script: keys }, agent)).toMatchObject(
      notExercised('The agent was heard .*the caller had not pressed all of its first keys'),
    );
  });
});

describe('a text call that tested nothing', () => {
  const checks = [{ type: 'never_says', text: 'goodbye', ...required } as const];

  it('never passes when no answer of the script was said', async () => {
    const script = [{ answers: [{ when: { says: { text: 'name' } }, say: 'Rossi' }] }];
    const result = await call({ script, checks }, { transport: agentSaying(['Hello.'], { agentSpeaksFirst: true }) });
    expect(result).toMatchObject({ outcome: 'error', failure: { code: 'not_exercised', retryable: false } });
    expect(result.reason).toMatch(/^The agent said "Hello\.", and the script ended: the caller had not said/);
  });

  it('passes when a later line of the script was said', async () => {
    const script = [{ when: { says: { text: 'name' } }, say: 'Rossi.' }, { say: 'Hello.' }];
    const result = await call({ script, checks }, { transport: agentSaying(['Hello.', 'Yes?']) });
    expect(result).toMatchObject({ outcome: 'passed' });
  });

  it('passes without a line when the script ends the call on purpose', async () => {
    const script = [{ when: { says: { text: 'closed' } }, end: 'They are closed' }, { say: 'A table.' }];
    const transport = agentSaying(['We are closed.'], { agentSpeaksFirst: true });
    expect(await call({ script, checks }, { transport })).toMatchObject({ outcome: 'passed' });
  });

  it('never passes when the agent only hung up', async () => {
    const transport = agentSaying([[{ tool: 'end_call', arguments: {} }]]);
    const result = await call({ script: [{ say: 'Hello.' }], checks }, { transport });
    expect(result.outcome).toBe('error');
  });
});
