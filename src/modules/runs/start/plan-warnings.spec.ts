import { type DefinitionInput, normalise } from '../../../../libs/evaluation-definition/index.js';
import type { Plan } from './plan.js';
import { type PlanContext, planWarnings } from './plan-warnings.js';

const CONTEXT: PlanContext = {
  protocol: 'chat-completions',
  hasModel: true,
  concurrency: { text: 20, voice: 50 },
  voices: [],
};
const never = { type: 'never_says', text: 'prompt' } as const;
const says = { type: 'says', text: 'welcome' } as const;
const criterion = { text: 'The agent is polite.' };

const plan = (definitions: Readonly<Record<string, DefinitionInput>>, concurrency = 5): Plan => ({
  name: 'Plan',
  repeat: 1,
  concurrency,
  minimumScore: null,
  minimumPassRate: null,
  allowedUncounted: 0,
  notWorseThan: null,
  agentVersion: null,
  medium: null,
  baselines: { gate: null, previous: null },
  evaluations: Object.entries(definitions).map(([name, definition]) => ({
    id: name,
    cases: [{ key: name, variables: null }],
    snapshot: {
      key: null,
      name,
      critical: false,
      tags: [],
      phoneNumber: '',
      scenarioText: '',
      language: 'en-US',
      generalInstructions: '',
      personality: { id: 'p', name: 'Caller', description: '', prompt: '', temperature: 0 },
      definition: normalise(definition),
    },
  })),
});
const warningsOf = (definitions: Readonly<Record<string, DefinitionInput>>, context: Partial<PlanContext> = {}) =>
  planWarnings(plan(definitions), { ...CONTEXT, ...context });

describe('planWarnings for text and voice calls', () => {
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

  it('says what calls without words and tool calls leave out, and that an agent without checks passes', () => {
    const protocol = 'twilio-media-streams';
    const voices = [{ name: 'Old', settings: ['accent'] }];
    const toolResults = [{ tool: 'a', result: 1 }];
    const gainDb = -6;
    expect(warningsOf({ A: { script, checks, conditions: { gainDb } } }, { protocol, voices })).toEqual([]);
    expect(
      warningsOf(
        { A: { script, checks: [{ type: 'clean_protocol' }], criteria: [optional], toolResults } },
        { protocol },
      ),
    ).toEqual([
      '"A": has only checks for what must never happen, so an agent that does nothing useful passes.',
      `"A": the criteria are not judged, because ${protocol} does not provide the agent's words.`,
      `"A": its toolResults have no effect, because ${protocol} does not provide the agent's tool calls.`,
    ]);
  });
});

describe('planWarnings for voice calls', () => {
  const checks = [{ type: 'max_turns', turns: 3 }] as const;
  const protocol = 'twilio-media-streams';

  it('names the setting of such calls when the concurrency is above what one process executes', () => {
    const warnings = (concurrency: number) =>
      planWarnings(plan({ A: { checks } }, concurrency), { ...CONTEXT, protocol });
    expect(warnings(45)).toEqual([]);
    expect(warnings(46)).toEqual([
      'A concurrency of 46 needs more than one process: one executes at most 45 calls of a workspace at once (nine tenths of VOICE_CONCURRENCY, 50).',
    ]);
  });

  it('says what the embedded voices cannot do for a personality, once for each', () => {
    const spoken = plan({ A: { checks }, B: { checks } });
    const voice = { gender: 'MALE', accent: 'Welsh', voice_id: 'nova', provider: 'x', backgroundNoise: false } as const;
    for (const { snapshot } of spoken.evaluations) Object.assign(snapshot.personality, { voice });
    expect(planWarnings(spoken, { ...CONTEXT, protocol })).toEqual([
      expect.stringMatching(
        /^Personality "Caller": voice_id "nova" is not an embedded voice .*; there is no embedded male voice with the accent "Welsh"; .* rms\.$/,
      ),
    ]);
    expect(planWarnings(spoken, CONTEXT)).toEqual([]);
  });
});

describe('planWarnings', () => {
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

  it('says when the concurrency is above what one process executes for a workspace', () => {
    expect(planWarnings(plan({ A: { checks: [says] } }, 18), CONTEXT)).toEqual([]);
    expect(planWarnings(plan({ A: { checks: [says] } }, 19), CONTEXT)).toEqual([
      'A concurrency of 19 needs more than one process: one executes at most 18 calls of a workspace at once (nine tenths of WORKER_CONCURRENCY, 20).',
    ]);
    expect(
      planWarnings(plan({ A: { checks: [says] } }, 1), { ...CONTEXT, concurrency: { text: 1, voice: 1 } }),
    ).toEqual([]);
  });

  it('names settings of personalities that have no effect over text, once per combination', () => {
    const voices = [
      { name: 'X', settings: ['accent', 'gender'] },
      { name: 'Y', settings: ['voice_id'] },
      { name: 'Z', settings: ['accent', 'gender'] },
    ];
    expect(warningsOf({ A: { checks: [says] } }, { voices })).toEqual([
      'Personalities "X", "Z": without effect, because the agent is called over text: accent, gender.',
      'Personality "Y": without effect, because the agent is called over text: voice_id.',
    ]);
  });

  it('lists a limited number of names', () => {
    const [warning] = warningsOf(Object.fromEntries(Array.from({ length: 5_000 }, (_, n) => [`E${n}`, {}])));
    expect(warning).toMatch(/^"E0", .*"E9" and 4990 more: has neither/);
  });
});
