import { type DefinitionInput, normalise } from '../evaluation-definition/index.js';
import type { Equipment } from './misfits.js';
import type { PlannedEvaluation } from './planned-evaluation.js';
import { evaluationWarnings } from './warnings.js';

const transcription = {
  mode: 'auto',
  source: 'AGENT_PROVIDER_1_TRANSCRIPTION',
  host: undefined,
  isAlways: false,
} as const;
const EQUIPMENT: Equipment = {
  protocol: 'chat-completions',
  hasModel: true,
  transcription,
  reportsTools: false,
  speechServers: {},
};
const never = { type: 'never_says', text: 'prompt' } as const;
const says = { type: 'says', text: 'welcome' } as const;
const criterion = { text: 'The agent is polite.' };

type Voice = NonNullable<PlannedEvaluation['snapshot']['personality']['voice']>;
const VOICE: Voice = {
  gender: 'FEMALE',
  accent: '',
  voice_id: '',
  provider: 'PERSONALITY_PROVIDER_1',
  backgroundNoise: false,
};

/** @param voices personalities by name; the first evaluation has the first one, and so on */
const planned = (
  definitions: Readonly<Record<string, DefinitionInput>>,
  voices: Readonly<Record<string, Partial<Voice>>> = { Caller: {} },
): PlannedEvaluation[] =>
  Object.entries(definitions).map(([name, definition], index) => {
    const personality = Object.keys(voices)[index] ?? Object.keys(voices)[0]!;
    return {
      cases: [{ variables: null }],
      snapshot: {
        name,
        language: 'en-US',
        personality: { id: personality, name: personality, voice: { ...VOICE, ...voices[personality] } },
        definition: normalise(definition),
      },
    };
  });
const warningsOf = (definitions: Readonly<Record<string, DefinitionInput>>, equipment: Partial<Equipment> = {}) =>
  evaluationWarnings(planned(definitions), { ...EQUIPMENT, ...equipment });

describe('evaluationWarnings for what a caller says as it is written', () => {
  const caller = (say: string) => ({ script: [{ say }], checks: [says] });

  // promptfoo (Nunjucks), LangChain, shells and SSML
  it.each([
    'Hello {{name}}',
    '{% if x %}Hello{% endif %}',
    'Hello {name}',
    'Hello ${NAME}',
    'Hello <break time="1s"/>',
  ])('names an evaluation with the line %j', (say) =>
    expect(warningsOf({ A: caller(say) })).toEqual([expect.stringMatching(/^"A": its caller says braces or tags/)]),
  );

  it.each(['On {{friday}}', 'On {{+7d | spoken}}', String.raw`Hello \{{name}}`, 'Two < three', 'Room {5}'])(
    'has nothing to say of the line %j',
    (say) => expect(warningsOf({ A: caller(say) })).toEqual([]),
  );

  it('knows the variables of the cases, and reads no pattern of a condition', () => {
    const when = { says: { pattern: String.raw`\d{a}` } };
    const script = [{ say: 'Hello {{name}}' }, { answers: [{ when, say: 'Yes.' }] }];
    const [evaluation] = planned({ A: { script, checks: [says] } });
    const cases = [{ variables: { name: 'Anna' } }];
    expect(evaluationWarnings([{ ...evaluation!, cases }], EQUIPMENT)).toEqual([]);
  });
});

describe('evaluationWarnings for anchors of checks', () => {
  const lines = [{ say: 'Yes, please.' }, { say: 'Yes.' }, { say: 'Goodbye.' }];
  const after = (text: string) => ({ type: 'calls_tool', tool: 'book', after: { text, speaker: 'caller' } }) as const;

  it('names an after or before that fits several lines of the script', () => {
    const [warning, ...others] = warningsOf({
      A: { script: lines, checks: [after('goodbye'), { type: 'not', check: after('yes') }] },
      B: {
        script: lines,
        checks: [{ type: 'never_says', text: 'booked', before: { pattern: '(?i)^yes', speaker: 'caller' } }],
      },
      C: { script: lines, checks: [{ ...says, after: { text: 'yes', speaker: 'agent' } }] },
    }).filter((each) => each.includes('fits'));
    expect(warning).toBe(
      '"A": checks[1].check.after fits 2 lines of the script, of which the first that is said counts: write the check under its line with expect, or choose words of that line only.',
    );
    expect(others).toEqual([expect.stringContaining('"B": checks[0].before fits 2 lines of the script')]);
  });

  it('inserts the values of the first case', () => {
    const [evaluation] = planned({
      A: { script: [{ say: '{{answer}}.' }, { say: 'Yes.' }], checks: [after('{{answer}}')] },
    });
    const rows = [{ variables: { answer: 'yes' } }, { variables: { answer: 'no' } }];
    expect(evaluationWarnings([{ ...evaluation!, cases: rows }], EQUIPMENT)).toEqual([
      expect.stringContaining('checks[0].after fits 2 lines'),
    ]);
  });
});

describe('evaluationWarnings for text and voice calls', () => {
  const script = [
    { say: 'Hello.' },
    { backchannel: 'yeah' as const, afterMs: 1 },
    { say: 'Stop.', bargeIn: { afterMs: 900 } },
    { press: '1' },
  ];
  const optional = { ...criterion, required: false };
  const checks = [{ type: 'max_turns', turns: 3 }] as const;

  it('says what text calls leave out', () => {
    const conditions = { gainDb: -6 };
    expect(warningsOf({ A: { script, checks, conditions }, B: { script: script.slice(3), checks } })).toEqual([
      '"A": lines with bargeIn are said after the response, because the agent is called over text.',
      '"A", "B": backchannels, noises and keys are left out, because the agent is called over text.',
      '"A": its conditions have no effect, because the agent is called over text.',
    ]);
  });

  it('says that fillers are left out over text, and not over voice', () => {
    const definitions = { A: { fillers: true, checks: [says] } };
    expect(warningsOf(definitions)).toEqual(['"A": its fillers are left out, because the agent is called over text.']);
    expect(warningsOf(definitions, { protocol: 'openai-realtime' })).toEqual([]);
  });

  it('says that the results of tools do not apply where the platform runs them', () => {
    const toolResults = [{ tool: 'a', result: 1 }];
    for (const protocol of ['vapi', 'vapi-chat']) {
      expect(warningsOf({ A: { script, checks, toolResults } }, { protocol })).toContain(
        `"A": its toolResults do not apply, because over ${protocol} the platform runs the agent's tools itself.`,
      );
    }
  });

  it('says what calls without words and tool calls leave out, and that an agent without checks passes', () => {
    const protocol = 'twilio-media-streams';
    const toolResults = [{ tool: 'a', result: 1 }];
    const gainDb = -6;
    expect(warningsOf({ A: { script, checks, conditions: { gainDb } } }, { protocol })).toEqual([]);
    expect(
      warningsOf(
        { A: { script, checks: [{ type: 'clean_protocol' }], criteria: [optional], toolResults } },
        { protocol },
      ),
    ).toEqual([
      '"A": has only checks for what must never happen, so an agent that does nothing useful passes.',
      expect.stringMatching(
        /^"A": the criteria are not judged, because twilio-media-streams does not provide the agent's words \(chat-completions.* them\), and no transcription server is configured \(STT_BASE_URL\)\.$/,
      ),
      `"A": its toolResults have no effect, because ${protocol} does not provide the agent's tool calls.`,
    ]);
  });
});

describe('evaluationWarnings for voice calls', () => {
  const checks = [{ type: 'max_turns', turns: 3 }] as const;
  const protocol = 'twilio-media-streams';

  it('says what the embedded voices cannot do for a personality, once for each', () => {
    const voice = { gender: 'MALE', accent: 'Welsh', voice_id: 'nova' } as const;
    const spoken = planned({ A: { checks }, B: { checks } }, { Caller: voice });
    expect(evaluationWarnings(spoken, { ...EQUIPMENT, protocol })).toEqual([
      expect.stringMatching(
        /^Personality "Caller": voice_id "nova" is not an embedded voice .*; there is no embedded male voice with the accent "Welsh"; .* rms\.$/,
      ),
    ]);
  });
});

describe('evaluationWarnings', () => {
  it('has none for a plan without faults', () => {
    expect(warningsOf({ A: { checks: [says, never] }, B: { criteria: [criterion] } })).toEqual([]);
  });

  it('names evaluations that ask nothing', () => {
    expect(warningsOf({ A: {}, B: { checks: [says] }, C: { checks: [] } })).toEqual([
      '"A", "C": has neither checks nor criteria, so every completed call passes.',
    ]);
  });

  it('names evaluations that an agent passes by doing nothing useful', () => {
    const tool = { type: 'never_calls_tool', tool: 'pay' } as const;
    const warning = '"A": has only checks for what must never happen, so an agent that does nothing useful passes.';
    expect(warningsOf({ A: { checks: [never, tool] }, B: { checks: [never, says] } })).toEqual([warning]);
    const composed = { type: 'all_of', checks: [never, { type: 'not', check: says }] } as const;
    expect(warningsOf({ A: { checks: [composed, { type: 'speakable' }] } })).toEqual([warning]);
    expect(warningsOf({ A: { checks: [{ type: 'when', if: never, then: says }] } })).toEqual([]);
    expect(warningsOf({ A: { checks: [never], criteria: [criterion] } })).toEqual([]);
    expect(warningsOf({ A: { checks: [never], criteria: [criterion] } }, { hasModel: false })).toEqual([
      warning,
      expect.stringMatching(/^"A": the criteria are not judged, .*LLM_BASE_URL/),
    ]);
  });

  it('names settings of personalities that have no effect over text, once per combination', () => {
    const voices = {
      Z: { accent: 'a', gender: 'MALE' },
      Y: { voice_id: 'v', interrupts: 'sometimes' },
      X: { accent: 'b', gender: 'MALE' },
    } as const;
    const definitions = { A: { checks: [says] }, B: { checks: [says] }, C: { checks: [says] } };
    expect(evaluationWarnings(planned(definitions, voices), EQUIPMENT)).toEqual([
      'Personalities "X", "Z": without effect, because the agent is called over text: accent, gender.',
      'Personality "Y": without effect, because the agent is called over text: voice_id, interrupts.',
    ]);
  });

  it('lists a limited number of names', () => {
    const [warning] = warningsOf(Object.fromEntries(Array.from({ length: 5_000 }, (_, n) => [`E${n}`, {}])));
    expect(warning).toMatch(/^"E0", .*"E9" and 4990 more: has neither/);
  });
});
