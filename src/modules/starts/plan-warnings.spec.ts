import { type DefinitionInput, normalise } from '../../../libs/evaluation-definition/index.js';
import { PROTOCOLS } from '../../../libs/simulation/index.js';
import { usePaidPlatform } from '../../../libs/simulation/testing/paid-platform/register.js';
import type { Plan } from './plan.js';
import { type PlanContext, planWarnings } from './plan-warnings.js';

const CONTEXT: PlanContext = {
  protocol: 'chat-completions',
  prompt: null,
  connectionOptions: {},
  hasModel: true,
  reportsTools: false,
  speechServers: {},
  transcription: { mode: 'auto', source: 'AGENT_PROVIDER_1_TRANSCRIPTION', host: 'stt.example', isAlways: false },
  concurrency: { text: 20, voice: 50 },
};
const says = { type: 'says', text: 'welcome' } as const;

const plan = (definitions: Readonly<Record<string, DefinitionInput>>, concurrency = 5): Plan => ({
  name: 'Plan',
  repeat: 1,
  concurrency,
  maxPaidAttempts: 2,
  agentVariables: {},
  assistantVersion: null,
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
      definition: normalise({ script: [{ say: 'Hello.' }], ...definition }),
    },
  })),
});
describe('planWarnings', () => {
  it('begins with the weaknesses of the evaluations', () => {
    expect(planWarnings(plan({ A: {} }, 19), CONTEXT)).toEqual([
      expect.stringMatching(/^"A": has neither checks nor criteria/),
      expect.stringMatching(/^A concurrency of 19/),
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

  it('names the setting of voice calls when the concurrency is above what one process executes', () => {
    const checks = [{ type: 'max_turns', turns: 3 }] as const;
    const warnings = (concurrency: number) =>
      planWarnings(plan({ A: { checks } }, concurrency), { ...CONTEXT, protocol: 'twilio-media-streams' });
    expect(warnings(45)).toEqual([]);
    expect(warnings(46)).toEqual([
      'A concurrency of 46 needs more than one process: one executes at most 45 calls of a workspace at once (nine tenths of VOICE_CONCURRENCY, 50).',
    ]);
  });

  it('says which server gets the audio of how many calls', () => {
    const needsWords = {
      ...plan({ A: { checks: [says] }, B: { checks: [{ type: 'max_turns', turns: 3 }] } }),
      repeat: 3,
    };
    expect(planWarnings(needsWords, { ...CONTEXT, protocol: 'twilio-media-streams' })).toEqual([
      "The agent's audio of 3 calls is sent to the transcription server stt.example, which may charge for it (STT_BASE_URL).",
    ]);
  });

  it('says that variables have no effect at an address that does not take them', () => {
    const checks = [{ type: 'max_turns', turns: 3 }] as const;
    const warnings = (scheme: string, agentVariables: Plan['agentVariables'] = { name: 'Rossi' }) =>
      planWarnings({ ...plan({ A: { checks } }), agentVariables }, { ...CONTEXT, protocol: 'pipecat', scheme });
    const ignored = expect.stringMatching(/^agentVariables have no effect, .* https:\/\/ only, .* with wss:\/\/\.$/);
    expect(warnings('wss:')).toContainEqual(ignored);
    expect(warnings('https:').join(' ')).not.toContain('agentVariables');
    expect(warnings('wss:', {}).join(' ')).not.toContain('agentVariables');
  });

  describe('over a platform with variables', () => {
    usePaidPlatform();

    const checks = [{ type: 'max_turns', turns: 3 }] as const;
    const warnings = (values: Partial<Plan>, context: Partial<PlanContext>) =>
      planWarnings({ ...plan({ A: { checks } }), ...values }, { ...CONTEXT, protocol: 'paid-text', ...context });

    it('names the variables of the prompt that nothing sets', () => {
      const prompt = 'Greet {{name}}, who has {{ points }} points at {{shop.name}} and {{ points }} again.';
      expect(warnings({}, { prompt })).toEqual([
        'The prompt of the agent names {{name}}, {{points}}, {{shop.name}}, and nothing sets them: give their values in ' +
          'agentVariables, or in the variables of its connection.',
      ]);
      const set = { agentVariables: { name: 'Rossi', points: 4 } };
      const connectionOptions = { variables: { 'shop.name': 'Roma' } };
      expect(warnings(set, { prompt, connectionOptions })).toEqual([]);
      const own = { agentVariables: { name: 'Rossi', points: '{{points}}' } };
      expect(warnings(plan({ A: { checks, ...own } }), { prompt, connectionOptions })).toEqual([]);
      const some = plan({ A: { checks, ...own }, B: { checks } });
      expect(warnings(some, { prompt, connectionOptions })).toEqual([
        expect.stringContaining('{{name}}, {{points}}, and'),
      ]);
      expect(warnings({}, { prompt, protocol: 'chat-completions' })).toEqual([]);
    });

    it('says that variables and a version have no effect where the platform has none', () => {
      const values = { agentVariables: { name: 'Rossi' }, assistantVersion: 'branch-7' };
      expect(warnings(values, {})).toEqual([]);
      const ofEvaluation = plan({ A: { checks, agentVariables: { name: 'Rossi' } } });
      expect(warnings(ofEvaluation, { protocol: 'chat-completions' })).toEqual([
        'agentVariables have no effect, because chat-completions has no variables.',
      ]);
      expect(warnings(values, { protocol: 'chat-completions' })).toEqual([
        'agentVariables have no effect, because chat-completions has no variables.',
        'assistantVersion has no effect, because chat-completions does not take a version.',
      ]);
    });

    it('says that tools run for real over ElevenLabs, which sets variables of its own', () => {
      const context = { protocol: 'elevenlabs-text', prompt: 'It is {{system__time_utc}}.' };
      expect(warnings({}, context)).toEqual([expect.stringMatching(/^Tools of this agent run for real: /)]);
      expect(warnings({}, { ...context, connectionOptions: { mockTools: true } })).toEqual([
        expect.stringMatching(/^Tools of this agent run for real, except those that toolResults/),
        'Mocks of the platform have its own results: arguments and results of toolResults apply to client tools only.',
      ]);
    });

    it('says that tools run for real over sip, where the records of the platform show them', () => {
      const real = expect.stringMatching(/^Tools of this agent run for real: /) as unknown;
      const over = (connectionOptions: Record<string, unknown>) => warnings({}, { protocol: 'sip', connectionOptions });
      expect(over({ records: 'vapi' })).toContainEqual(real);
      expect(over({})).not.toContainEqual(real);
    });

    it('says that tools run for real where they are only seen', () => {
      const module = PROTOCOLS.of('paid-text') as { provides: object };
      const { provides } = module;
      module.provides = { ...provides, toolCalls: 'seen' };
      try {
        expect(warnings({}, {})).toEqual([expect.stringMatching(/^Tools of this agent run for real/)]);
      } finally {
        module.provides = provides;
      }
    });
  });
});
