import { type DefinitionInput, needsOf, normalise } from '../../evaluation-definition/index.js';
import { misfitOf, PROTOCOLS } from '../index.js';

const ENGLISH = { languages: ['en'], cure: 'TTS_LANGUAGES' };
const misfit = (definition: DefinitionInput, protocol: string, language = 'en-US', spoken = ENGLISH) =>
  misfitOf(normalise(definition), language, PROTOCOLS.of(protocol), spoken);
const overText = (definition: DefinitionInput) => misfit(definition, 'chat-completions');
const overTwilio = (definition: DefinitionInput) => misfit(definition, 'twilio-media-streams');

const script = [
  { say: 'Hello.' },
  { backchannel: 'yeah' as const, afterMs: 500 },
  { say: ['My', { pauseMs: 900 }, 'name'], bargeIn: { afterMs: 1000 } },
  { press: '1' },
  { noise: 'door' as const },
  { waitSeconds: 1 },
  { end: 'Done' },
];
const checks: DefinitionInput['checks'] = [
  { type: 'says', text: 'hello', speaker: 'caller' },
  { type: 'no_personal_data', speaker: 'caller' },
  { type: 'max_latency_ms', ms: 900 },
  { type: 'max_time_to_first_word_ms', ms: 900 },
  { type: 'max_pause_ms', ms: 900 },
  { type: 'max_silence_ms', ms: 900 },
  { type: 'max_duration_ms', ms: 900 },
  { type: 'max_turns', turns: 3 },
  { type: 'ends_by', by: 'caller' },
  { type: 'answers', times: { max: 1 } },
  { type: 'transfers', to: '+15550142', as: ['hand_over'] },
];
const voiceChecks: DefinitionInput['checks'] = [
  { type: 'yields_within_ms', ms: 900 },
  { type: 'keeps_speaking' },
  { type: 'max_interruptions', count: 0 },
  { type: 'max_overlap_ms', ms: 900 },
  { type: 'audio_level', minDbfs: -40 },
  { type: 'max_choppiness', perMinute: 2 },
  { type: 'clean_protocol' },
  { type: 'hears_keys', keys: '1' },
  { type: 'hears_keys', keys: '1', then: { transfer: true } },
];

describe('misfitOf', () => {
  it('finds nothing in an evaluation that the protocol can carry', () => {
    expect(overText({ script, checks, criteria: [{ text: 'Polite.' }] })).toBeUndefined();
    expect(overText({})).toBeUndefined();
    expect(misfit({ script, checks }, 'chat-completions', 'de')).toBeUndefined();
    expect(overTwilio({ script, checks: [...checks, ...voiceChecks] })).toBeUndefined();
    expect(overTwilio({ script, criteria: [{ text: 'Polite.', required: false }] })).toBeUndefined();
  });

  it.each(voiceChecks)('finds a check that needs a voice call, over text: $type', (check) => {
    const reason = 'it needs a voice call, which chat-completions does not provide: checks[0] (Heard)';
    expect(overText({ script, checks: [{ ...check, name: 'Heard' }] })).toBe(reason);
    const nested = { type: 'any_of', name: 'Heard', checks: [{ type: 'not', check }, checks[0]!] } as const;
    expect(overText({ script, checks: [nested] })).toBe(reason);
  });

  it('finds a generated caller, conditions, answers and required criteria where no words are heard', () => {
    const words = "it needs the agent's words, which twilio-media-streams does not provide: ";
    expect(overTwilio({})).toBe(`${words}the caller, which has no script`);
    const when = { says: { text: 'a' } };
    expect(
      overTwilio({
        script: [{ say: 'a' }, { when, say: 'b' }, { answers: [{ when, say: 'c' }], until: when, otherwise: 'd' }],
        criteria: [{ text: 'A.', required: false }, { text: 'B.' }],
      }),
    ).toBe(`${words}script[1] (when), script[2] (answers), criteria[1]`);
  });

  it.each<[NonNullable<DefinitionInput['checks']>[number], string[]]>([
    [{ type: 'says', text: 'a' }, ['words']],
    [{ type: 'never_says', text: 'a', speaker: 'caller', before: { tool: 'b' } }, ['toolCalls']],
    [{ type: 'says', text: 'a', speaker: 'caller', after: { text: 'b' } }, ['words']],
    [{ type: 'calls_tool', tool: 'a' }, ['toolCalls']],
    [{ type: 'never_calls_tool', tool: 'a', before: { text: 'yes' } }, ['toolCalls', 'words']],
    [{ type: 'never_calls_tool' } as NonNullable<DefinitionInput['checks']>[number], ['toolCalls']],
    [{ type: 'transfers', after: { text: 'a' } }, ['words']],
    [{ type: 'transfers', after: { tool: 'a' } }, ['toolCalls']],
    [{ type: 'criterion', criterion: 'Polite.' }, ['words']],
    [{ type: 'any_of', checks: [{ type: 'transfers' }, { type: 'criterion', criterion: 'Polite.' }] }, ['words']],
    [{ type: 'in_order', events: [{ text: 'a', speaker: 'caller' }, { tool: 'b' }] }, ['toolCalls']],
    [{ type: 'says_before', first: { text: 'a' }, then: { text: 'b' } }, ['words']],
    [{ type: 'same_value', sources: [{ value: 1 }, { pattern: '(?P<a>b)' }] }, ['words']],
    [{ type: 'understood', values: [{ value: 1 }, { tool: 'a', argument: 'b' }] }, ['toolCalls']],
    [{ type: 'ends_by', by: 'agent', withinMs: 5 }, ['words']],
    [{ type: 'max_answer_words', words: 5 }, ['words']],
    [{ type: 'talk_ratio', max: 0.5 }, ['words']],
    [{ type: 'language', language: 'en' }, ['words']],
    [{ type: 'speakable' }, ['words']],
    [{ type: 'no_personal_data' }, ['words']],
    [{ type: 'speaking_rate', minWpm: 100 }, ['voice', 'words']],
    [{ type: 'hears_keys', keys: '1', then: { text: 'a' } }, ['voice', 'words']],
    [{ type: 'hears_keys', keys: '1', then: { tool: 'a' } }, ['voice', 'toolCalls']],
    [{ type: 'when', if: { type: 'clean_protocol' }, then: { type: 'speakable' } }, ['voice', 'words']],
  ])('finds a check that needs more than Twilio provides: %j', (check, needs) => {
    const [normalised] = normalise({ checks: [check] }).checks;
    expect(needsOf(normalised!)).toEqual(needs);
    const missing = needs.filter((need) => need !== 'voice').map((need) => (need === 'words' ? 'words' : 'tool calls'));
    const reason = overTwilio({ script, checks: [{ ...check, name: 'It' }] });
    for (const what of missing) {
      expect(reason).toContain(
        `it needs the agent's ${what}, which twilio-media-streams does not provide: checks[0] (It)`,
      );
    }
  });

  it('finds nothing that a caller on a voice call cannot decide if the protocol provides words', () => {
    const answers = [{ when: { says: { text: 'day' } }, say: 'On Friday.' }];
    for (const definition of [
      { script: [{ say: 'Hello.' }, { answers }, { end: 'Done' }] },
      { script: [] },
      { script: [{ say: 'Hello.' }], checks: [{ type: 'says', text: 'evening' }] },
    ] satisfies DefinitionInput[]) {
      expect(misfit(definition, 'openai-realtime')).toBeUndefined();
      expect(misfit(definition, 'twilio-media-streams')).toContain("it needs the agent's words");
    }
  });

  it('finds keys, which only a telephone transmits', () => {
    const keys = {
      script: [{ say: 'Hello.' }, { press: '1' }],
      checks: [{ type: 'hears_keys', keys: '1', name: 'It' }],
    };
    const definition = normalise(keys as DefinitionInput);
    expect(misfitOf(definition, 'en', PROTOCOLS.of('openai-realtime'), ENGLISH)).toBe(
      'it presses keys, which openai-realtime does not transmit: script[1] (press), checks[0] (It)',
    );
    expect(misfitOf(definition, 'en', PROTOCOLS.of('twilio-media-streams'), ENGLISH)).toBeUndefined();
  });

  it('finds results of tools that the mocks of a platform cannot give', () => {
    const toolResults = [
      { tool: 'find', same: { time: '19:00' }, results: [1, 2] },
      { tool: 'book', error: 'Out of order' },
    ];
    const definition = { script: [{ say: 'Hello.' }], toolResults };
    expect(misfit(definition, 'retell-text')).toBe(
      'the mocks of retell-text cannot do this: toolResults[0].same, toolResults[0].results',
    );
    expect(misfit(definition, 'chat-completions')).toBeUndefined();
  });

  it('finds a history that the protocol does not take', () => {
    const definition = { script: [{ say: 'Hello.' }], history: [{ agent: 'Good evening.' }] };
    const protocols = ['elevenlabs-text', 'vapi-chat', 'openai-realtime'];
    for (const name of protocols)
      expect(misfit(definition, name)).toBe(`it has a history, which ${name} does not take`);
    for (const name of ['chat-completions', 'retell-text']) expect(misfit(definition, name)).toBeUndefined();
  });

  it('describes checks without a name, and names only some of many parts', () => {
    const says = Array.from({ length: 7 }, (_, index) => ({ type: 'says', text: `a${index}` }) as const);
    expect(overTwilio({ script, checks: says })).toMatch(
      /: checks\[0\] \(Agent says "a0"\), .*checks\[4\] \(Agent says "a4"\) and 2 more$/,
    );
  });

  it('finds lines that no voice can speak, also between hesitations', () => {
    const silent = [{ say: 'Hello.' }, { say: '...' }, { say: ['Well', { pauseMs: 500 }, '?!', 'a'] }, { say: '東京' }];
    expect(overTwilio({ script: silent })).toBe('it has lines without a word to speak: script[1], script[2]');
    expect(overText({ script: silent })).toBeUndefined();
  });

  it.each([
    ['en', true],
    ['EN-gb', true],
    ['de-AT', false],
    ['eng', false],
  ])('lets a caller with a voice speak English only: %s', (language, isSpoken) => {
    const reason = misfit({ script }, 'twilio-media-streams', language);
    expect(reason).toBe(
      isSpoken ? undefined : `its language is ${language}, and the voices of the caller speak English (TTS_LANGUAGES)`,
    );
  });

  it('lets a caller speak the languages of a speech server', () => {
    const spoken = { languages: ['en', 'de', 'pt-BR', 'ja'], cure: 'TTS_LANGUAGES' };
    const inLanguage = (language: string) => misfit({ script }, 'twilio-media-streams', language, spoken);
    expect(['en-GB', 'de', 'de-AT', 'pt-BR', 'pt'].map(inLanguage)).toEqual(Array(5).fill(undefined));
    const names = 'English, German, Brazilian Portuguese, Japanese';
    for (const language of ['pt-PT', 'fr']) {
      expect(inLanguage(language)).toBe(
        `its language is ${language}, and the voices of the caller speak ${names} (TTS_LANGUAGES)`,
      );
    }
  });

  it('has backchannels in the languages of a table', () => {
    const spoken = { languages: ['de', 'ja'], cure: 'TTS_LANGUAGES' };
    expect(misfit({ script }, 'twilio-media-streams', 'ja', spoken)).toBe(
      'its language is ja, and backchannels exist in English, German, Spanish, French, Italian, Dutch, Portuguese ' +
        'only: script[1]',
    );
    expect(misfit({ script: [{ say: 'こんにちは' }] }, 'twilio-media-streams', 'ja', spoken)).toBeUndefined();
    expect(misfit({ script }, 'chat-completions', 'ja', spoken)).toBeUndefined();
  });
});
