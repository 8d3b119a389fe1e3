import { type CheckInput } from '../../evaluation-definition/index.js';
import { inProcess } from '../index.js';
import { call } from '../testing/calls.js';

/** An agent that says these words, with pauses in milliseconds between them. */
const agentPausing = (...parts: readonly (string | number)[]) =>
  inProcess(async function* ({ clock, signal }) {
    for (const part of parts) {
      if (typeof part === 'string') yield { say: part };
      else await clock.sleep(part, signal);
    }
  });
const talk = (parts: readonly (string | number)[], checks: readonly CheckInput[] = []) =>
  call({ script: [{ say: 'Hello.' }], checks }, { transport: agentPausing(...parts) });
const speechOf = ({ timeline }: Awaited<ReturnType<typeof talk>>) =>
  timeline.flatMap((entry) =>
    entry.type === 'speech' && entry.speaker === 'agent' ? [[entry.text, entry.start, entry.end]] : [],
  );

describe('pauses inside an answer', () => {
  it('split the speech from 500 ms on', async () => {
    expect(speechOf(await talk([100, 'One', 499, ' two.', 500, ' Three', 100, ' four.']))).toEqual([
      ['One two.', 100, 599],
      [' Three four.', 1_099, 1_199],
    ]);
  });

  it('count as silence, not as latency', async () => {
    const { measures, checks } = await talk(
      [100, 'One moment.', 4_000, ' Done.'],
      [
        { type: 'max_silence_ms', ms: 3_999 },
        { type: 'max_silence_ms', ms: 4_000 },
        { type: 'max_latency_ms', ms: 100 },
      ],
    );
    expect(measures).toMatchObject({ turns: 1, longestSilenceMs: 4_000, latency: { count: 1, worst: 100 } });
    expect(checks.map(({ met }) => met)).toEqual([false, true, true]);
    expect(checks[0]!.detail).toBe('The longest silence lasted 4000 ms; the limit is 3999');
  });

  it('are not hidden by white space, and not by a late end of the answer', async () => {
    const hidden = await talk([100, 'One.', 400, ' ', 400, '\n', 400, 'Two.', 3_000, '\n', 1_000]);
    expect(speechOf(hidden)).toEqual([
      ['One.', 100, 100],
      [' Two.', 1_300, 1_300],
    ]);
    expect(hidden.measures).toMatchObject({ longestSilenceMs: 4_000, durationMs: 5_300 });
  });

  it('leave the words of a turn whole', async () => {
    const { checks, measures } = await talk(
      [100, 'Your table is boo', 600, 'ked, Mr', 700, ' Rossi', 800, '.'],
      [
        { type: 'says', text: 'is booked, Mr Rossi.' },
        { type: 'says', text: 'boo' },
        { type: 'says', text: 'Rossi' },
        { type: 'max_turns', turns: 1 },
      ],
    );
    expect(checks.map(({ met }) => met)).toEqual([true, false, true, true]);
    expect(checks[2]!.evidence).toMatchObject([{ entry: 3 }]);
    expect(measures.words.agent).toBe(6);
  });

  it('do not change what a scripted caller hears', async () => {
    const script = [{ say: 'Hello.' }, { when: { says: { text: 'the name please' } }, say: 'Rossi.' }, { end: 'Done' }];
    const result = await call({ script }, { transport: agentPausing('The na', 900, 'me', 900, ' please') });
    expect(result.timeline).toContainEqual(expect.objectContaining({ speaker: 'caller', text: 'Rossi.' }));
  });
});

describe("the caller's own waits", () => {
  const agent = () => agentPausing(100, 'Hm.');

  it('are not silence', async () => {
    const script = [{ say: 'Hello.' }, { waitSeconds: 10 }, { say: 'Still there?' }];
    const checks: CheckInput[] = [{ type: 'max_silence_ms', ms: 100 }];
    const { measures, outcome } = await call({ script, checks }, { transport: agent() });
    expect({ outcome, measures }).toMatchObject({
      outcome: 'passed',
      measures: { longestSilenceMs: 100, durationMs: 10_200 },
    });
  });

  it('are not latency of an agent that does not answer', async () => {
    const script = [{ say: 'Hello.' }, { waitSeconds: 10 }, { say: 'Still there?' }];
    const checks: CheckInput[] = [{ type: 'max_latency_ms', ms: 900, required: false }];
    const silent = inProcess(async function* ({ messages }) {
      if (messages.length > 1) yield { say: 'Yes.' };
    });
    const result = await call({ script: script.slice(0, 2), checks }, { transport: silent, patienceMs: 1_000 });
    expect(result.checks[0]!.detail).toBe('The slowest answer started after 1000 ms; the limit is 900');
  });
});
