import { type DefinitionInput, normalise } from '../../evaluation-definition/index.js';
import { executeCall } from '../index.js';
import { virtualCalls, type VirtualCallOptions } from '../voice/call/virtual-call.js';
import { rawWire } from '../voice/testing/raw-wire.js';
import { type Cue, cued, SOUNDS } from '../voice/testing/virtual-calls.js';
import type { WireFactory } from '../voice/wire/wire.js';
import { isRootCause } from './root-causes.js';

const LINE = 'A table for four ...';
const required = { required: true, weight: 1 };

/** Finds what is wrong with the first messages of the agent. */
const finding =
  (...codes: readonly string[]): WireFactory =>
  (side) => {
    const wire = rawWire(side);
    const left = [...codes];
    return {
      ...wire,
      message: (now, data) => {
        for (const code of left.splice(0)) {
          side.finding(now, { code, severity: 'error', detail: `What ${code} means`, source: '' });
        }
        wire.message(now, data);
      },
    };
  };

const call = (definition: DefinitionInput, cues: readonly Cue[], wire: VirtualCallOptions['wire'] = rawWire) =>
  executeCall({
    definition: normalise(definition),
    scenario: { scenarioText: 'You want a table.' },
    personality: { name: 'Caller' },
    transport: virtualCalls({ wire, agent: cued(...cues) }),
    voice: { sounds: SOUNDS, voice: 'any' },
  });

describe('the reason of a call that did not pass', () => {
  const script = [{ say: LINE }];
  const slow = { type: 'max_latency_ms', ms: 500, name: 'Answers quickly', ...required } as const;
  // The line lasts from 3,000 to 4,000.
  const ANSWER = { atMs: 6_000, playMs: 1_000 };

  it('begins with the protocol error', async () => {
    const result = await call({ script, checks: [slow] }, [ANSWER], finding('wrong_encoding'));
    expect(result.outcome).toBe('failed');
    expect(result.reason).toMatch(
      /^Protocol error wrong_encoding: What wrong_encoding means\. Not met: Answers quickly/,
    );
  });

  it('begins with the protocol error where the agent seemed silent', async () => {
    const result = await call({ script }, [{ atMs: 4_500, control: 'x' }], finding('wrong_stream_sid'));
    expect(result.reason).toMatch(/^Protocol error wrong_stream_sid: .* Broken off: /);
  });

  it('names two protocol errors in full', async () => {
    const wire = finding('wrong_stream_sid', 'binary_frame', 'invalid_message');
    const { reason } = await call({ script, checks: [slow] }, [ANSWER], wire);
    expect(reason).toContain('Protocol error binary_frame: What');
    expect(reason).toContain('Further protocol errors: invalid_message.');
  });

  it('begins with the protocol error where nothing was tested', async () => {
    const cues = [
      { atMs: 100, control: 'x' },
      { atMs: 200, close: 1000 },
    ];
    const result = await call({ script }, cues, finding('binary_frame'));
    expect(result.failure?.code).toBe('not_exercised');
    expect(result.reason).toMatch(/^Protocol error binary_frame: .* The agent closed the stream 0\.2 s/);
  });

  it('does not name a protocol error of a call that passed, nor a missing clear as the cause of something else', async () => {
    expect((await call({ script }, [ANSWER], finding('wrong_rate'))).reason).not.toContain('wrong_rate');
    const deaf = await call({ script, checks: [slow] }, [ANSWER], finding('no_clear_on_barge_in'));
    expect(deaf.reason).toMatch(/^Not met/);
    expect(deaf.timeline.some(isRootCause)).toBe(false);
  });

  it('says that the agent hung up in mid-sentence', async () => {
    const stays = { type: 'ends_by', by: 'caller', name: 'Stays', ...required } as const;
    const close = (atMs: number) => [ANSWER, { atMs, close: 1000 }];
    const cut = await call({ script: [...script, ...script], checks: [stays] }, close(6_500));
    expect(cut.reason).toMatch(/^The agent hung up in mid-sentence\. Not met: Stays/);
    const after = await call({ script: [...script, ...script], checks: [stays] }, close(7_400));
    expect(after.reason).toMatch(/^Not met: Stays/);
  });
});
