import { type DefinitionInput, normalise, type VariablesRow } from '../evaluation-definition/index.js';
import { cures, type Equipment, misfits } from './misfits.js';
import type { PlannedEvaluation } from './planned-evaluation.js';
import { evaluationWarnings } from './warnings.js';
import type { TranscriptionEquipment } from './words.js';

const SETTING = 'AGENT_PROVIDER_1_TRANSCRIPTION';
const SERVER = { mode: 'auto', source: SETTING, host: 'stt.example:8000', isAlways: false } as const;
const script = [{ say: 'Hello.' }, { end: 'Done' }];
const says = { type: 'says', text: 'welcome' } as const;
const turns = { type: 'max_turns', turns: 3 } as const;

const planned = (definition: DefinitionInput, rows: readonly (VariablesRow | null)[] = [null]): PlannedEvaluation => ({
  cases: rows.map((variables) => ({ variables })),
  snapshot: {
    name: 'A',
    language: 'en-US',
    personality: { id: 'p', name: 'Caller' },
    definition: normalise(definition),
  },
});
const equipped = (transcription: Partial<TranscriptionEquipment> = {}, more: Partial<Equipment> = {}): Equipment => ({
  protocol: 'twilio-media-streams',
  hasModel: true,
  reportsTools: false,
  speechServers: {},
  transcription: { ...SERVER, ...transcription },
  ...more,
});
const sent = (definition: DefinitionInput, equipment: Equipment, rows?: VariablesRow[]) =>
  evaluationWarnings([planned(definition, rows)], equipment, 10).filter((warning) => warning.includes('audio of'));

describe('a criterion in a check', () => {
  const checks = [{ type: 'any_of', checks: [says, { type: 'criterion', criterion: 'Polite.' }] }] as const;

  it('needs a language model where the check is required, and is announced as not judged elsewhere', () => {
    const without = equipped({}, { hasModel: false, protocol: 'chat-completions' });
    expect(misfits([planned({ script, checks })], without)[0]!.reason).toContain(
      'a required criterion, and no language',
    );
    const optional = planned({ script, checks: [{ ...checks[0], required: false }] });
    expect(misfits([optional], without)).toEqual([]);
    expect(evaluationWarnings([optional], without).join()).toContain(
      'the criteria are not judged, because no language',
    );
  });

  it("needs the agent's words", () => {
    const [misfit] = misfits([planned({ script, checks })], equipped({ mode: 'off' }));
    expect(misfit!.reason).toContain("it needs the agent's words");
  });
});

describe('the words of calls over a protocol that has none', () => {
  const answers = [{ when: { says: { text: 'day' } }, say: 'On Friday.' }];
  const needing: DefinitionInput[] = [
    { script, checks: [says] },
    { script, criteria: [{ text: 'Polite.' }] },
    { script: [...script, { answers }] },
    { script: [] },
  ];

  it('are those of a transcription server', () => {
    for (const definition of needing) {
      expect(misfits([planned(definition)], equipped())).toEqual([]);
      expect(misfits([planned(definition)], equipped({ mode: 'heard' }))).toEqual([]);
      expect(cures([planned(definition)], equipped())).toEqual([]);
    }
    const criteria = [{ text: 'Polite.', required: false }];
    expect(evaluationWarnings([planned({ script, checks: [turns], criteria })], equipped())).toEqual([
      expect.stringMatching(/^The agent's audio of 1 call /),
    ]);
  });

  it.each<[Partial<TranscriptionEquipment>, string]>([
    [{ host: undefined }, 'no transcription server is configured (STT_BASE_URL)'],
    [{ mode: 'off' }, `transcription is off (${SETTING})`],
    [
      { mode: 'off', source: "the option of the agent's connection" },
      "transcription is off (the option of the agent's",
    ],
    [
      { mode: 'off', host: undefined },
      `transcription is off (${SETTING}), and no transcription server is configured (STT_BASE_URL)`,
    ],
  ])('are missing, with what would provide them: %j', (transcription, lack) => {
    for (const definition of needing) {
      const [misfit] = misfits([planned(definition)], equipped(transcription));
      expect(misfit!.reason).toContain("it needs the agent's words, which twilio-media-streams does not provide: ");
      const [cure, other] = cures([planned(definition)], equipped(transcription));
      expect(cure!.startsWith(`transcription: ${lack}`)).toBe(true);
      expect(other).toMatch(
        /^protocol: chat-completions.* the agent's words; .* a second agent with a text connection and the same evaluation keys$/,
      );
    }
    expect(misfits([planned({ script, checks: [turns] })], equipped(transcription))).toEqual([]);
  });

  it('come without tool calls', () => {
    const checks = [{ type: 'calls_tool', tool: 'book' }] as const;
    expect(misfits([planned({ script, checks })], equipped())[0]!.reason).toContain("it needs the agent's tool calls");
    expect(misfits([planned({ script, checks })], equipped({}, { reportsTools: true }))).toEqual([]);
    expect(cures([planned({ script, checks })], equipped({ host: undefined }))).toEqual([
      expect.stringMatching(/^toolCalls: reported in the options .*POST \/tool-calls/),
      expect.stringMatching(/^protocol: .*openai-realtime.* the agent's tool calls; .* a second agent/),
    ]);
  });
});

describe('the options of a connection', () => {
  const over = (connectionOptions: NonNullable<Equipment['connectionOptions']>): Equipment =>
    equipped({}, { protocol: 'pipecat', connectionOptions });
  const tools = [planned({ script, checks: [{ type: 'calls_tool', tool: 'book' }] })];
  const words = [planned({ script, checks: [says] })];

  it('decide whether tool calls are known: a bot of Pipecat does not show them by default', () => {
    expect(misfits(tools, over({}))[0]!.reason).toContain("it needs the agent's tool calls");
    expect(misfits(tools, over({ functionCalls: 'shown' }))).toEqual([]);
  });

  it('decide whether tool calls over sip are known: by the records of a platform, which the refusal names', () => {
    const sip = (connectionOptions: NonNullable<Equipment['connectionOptions']>) =>
      equipped({}, { protocol: 'sip', connectionOptions });
    for (const options of [{}, { trigger: 'https://agent.example.com/call' }, { trigger: 'elevenlabs' }]) {
      expect(misfits(tools, sip(options))[0]!.reason).toContain("it needs the agent's tool calls, which sip does not");
      expect(cures(tools, sip(options))).toContainEqual(
        expect.stringMatching(/^records: vapi, or retell, in the options of the agent's connection; /),
      );
    }
    for (const options of [{ records: 'vapi' }, { records: 'retell:http://127.0.0.1:8080' }, { trigger: 'retell' }]) {
      expect(misfits(tools, sip(options))).toEqual([]);
      expect(cures(tools, sip(options))).toEqual([]);
    }
    expect(cures(tools, equipped()).join()).not.toContain('records:');
  });

  it('decide whether a transcription server must hear the agent: a bot without RTVI has no words', () => {
    expect([misfits(words, over({})), sent({ script, checks: [says] }, over({}))]).toEqual([[], []]);
    const without = { ...over({ rtvi: 'off' }), transcription: { ...SERVER, host: undefined } };
    expect(misfits(words, without)[0]!.reason).toContain("the agent's words, which pipecat does not provide");
    expect(misfits(words, over({ rtvi: 'off' }))).toEqual([]);
    expect(sent({ script, checks: [says] }, over({ rtvi: 'off' }))).toHaveLength(1);
  });
});

describe('the warning that audio is sent to a transcription server', () => {
  const ten =
    "The agent's audio of 10 calls is sent to the transcription server stt.example:8000, which may charge for it (STT_BASE_URL).";

  it('counts the calls that need words', () => {
    expect(sent({ script, checks: [says] }, equipped())).toEqual([ten]);
    expect(sent({ script, checks: [turns] }, equipped())).toEqual([]);
    expect(sent({ script, checks: [turns] }, equipped({ isAlways: true }))).toEqual([ten]);
  });

  it('counts optional criteria only if a model judges them', () => {
    const judged = { script, checks: [turns], criteria: [{ text: 'Polite.', required: false }] };
    expect(sent(judged, equipped())).toEqual([ten]);
    expect(sent(judged, equipped({}, { hasModel: false }))).toEqual([]);
  });

  it('counts by the rows of a check whose speaker is a variable', () => {
    const checks = [{ type: 'says', text: 'please', speaker: '{{who}}' as 'agent' }] as const;
    expect(sent({ script, checks }, equipped(), [{ who: 'agent' }, { who: 'caller' }])).toEqual([ten]);
  });

  it('is not given where nothing is sent', () => {
    const needing = { script, checks: [says] };
    for (const equipment of [
      equipped({ mode: 'off' }),
      equipped({}, { protocol: 'openai-realtime' }),
      equipped({ mode: 'heard' }, { protocol: 'chat-completions' }),
    ]) {
      expect(sent(needing, equipment)).toEqual([]);
    }
    expect(sent(needing, equipped({ mode: 'heard' }, { protocol: 'openai-realtime' }))).toEqual([ten]);
  });

  it('says that the words of the protocol count if there is no server to hear others', () => {
    const equipment = equipped({ mode: 'heard', host: undefined }, { protocol: 'openai-realtime' });
    expect(evaluationWarnings([planned({ script, checks: [says] })], equipment)).toEqual([
      `The words of openai-realtime count: transcription is heard (${SETTING}), but no transcription server is configured (STT_BASE_URL).`,
    ]);
  });
});
