import { type DefinitionInput, normalise, withExpectations } from '../evaluation-definition/index.js';
import type { PlannedEvaluation } from './planned-evaluation.js';
import { explanationOf } from './explanation.js';

const explained = (input: DefinitionInput) =>
  explanationOf({
    snapshot: {
      personality: { name: 'Regular' },
      definition: normalise(input),
    } as unknown as PlannedEvaluation['snapshot'],
    cases: [],
  });

describe('explanationOf', () => {
  it('names the type of a check that is a variable, whose values are not known yet', () => {
    const template = { type: '{{kind}}', text: 'sorry', required: true } as unknown as NonNullable<
      DefinitionInput['checks']
    >[number];
    expect(explained({ script: [{ say: 'Hello.' }], checks: [template] })).toContain(
      'Check: Check of the type {{kind}}.',
    );
  });

  it('says what was said before the call', () => {
    const history = [{ caller: 'Hello.' }, { agent: 'Good evening.' }, { tool: 'find', result: 7 }];
    expect(explained({ script: [{ say: 'Go on.' }], history }).slice(0, 3)).toEqual([
      'Before the call, caller: "Hello."',
      'Before the call, agent: "Good evening."',
      'Before the call, agent calls tool: "find({}) returned 7".',
    ]);
  });

  it('says what tools return', () => {
    const toolResults = [
      { tool: 'find', arguments: { people: 4 }, results: [{ times: [] }, { times: ['20:00'] }], delayMs: 500 },
      { tool: 'find', same: { time: '19:00' }, argumentsSchema: { required: ['day'] }, result: 'free', times: 2 },
      { tool: 'book', error: 'Out of order' },
      { tool: 'note', noAnswer: true as const },
    ];
    expect(explained({ script: [{ say: 'Hello.' }], toolResults }).slice(1, -1)).toEqual([
      'Tool find with exactly {"people":4} returns {"times":[]}, then {"times":["20:00"]} after 500 ms.',
      'Tool find with arguments that fit the schema {"required":["day"]} and the same values as {"time":"19:00"}, in any form, returns "free" to the first 2 such calls.',
      'Tool book fails with "Out of order".',
      'Tool note never answers.',
    ]);
    const many = Array.from({ length: 22 }, (_, n) => ({ tool: `t${n}`, result: 1 }));
    expect(explained({ script: [{ say: 'Hello.' }], toolResults: many })).toContain(
      'There are 2 more results of tools.',
    );
  });

  it('says after which line something is expected', () => {
    const expect_ = [
      { type: 'calls_tool', tool: 'find' },
      { type: 'speakable', name: 'Plain', required: false },
    ] as const;
    const definition = withExpectations(normalise({ script: [{ say: 'A table, please.', expect: expect_ }] }));
    const snapshot = { personality: { name: 'Regular' }, definition } as unknown as PlannedEvaluation['snapshot'];
    expect(explanationOf({ snapshot, cases: [] }).slice(0, 3)).toEqual([
      'The caller says "A table, please."',
      'Check: After "A table, please.": agent calls find.',
      'Check "After "A table, please.": Plain", which only lowers the score: The agent says nothing that a voice would stumble over.',
    ]);
  });

  it('says what a scripted caller does, and describes checks, criteria and limits', () => {
    expect(
      explained({
        script: [
          { say: 'A table,\n please.' },
          { waitSeconds: 1 },
          {
            answers: [{ when: { says: { text: 'name' } }, say: 'Rossi.' }],
            until: { says: { pattern: 'booked' }, notSays: { text: 'sorry' } },
            otherwise: 'Yes.',
          },
          { when: { says: { text: 'sorry' } }, say: 'Why?' },
          { to: { says: { text: 'when' } }, say: 'Now.' },
          { end: 'Done', unless: 'asked' },
        ],
        checks: [
          { type: 'calls_tool', tool: 'book', after: { text: 'yes', speaker: 'caller' }, times: { max: 1 } },
          {
            type: 'any_of',
            checks: [
              { type: 'says', text: 'a' },
              { type: 'not', check: { type: 'says', pattern: 'b' } },
            ],
          },
          { type: 'language', name: 'German', language: 'de', required: false },
        ],
        criteria: [{ text: 'Polite.' }, { text: 'Short.', required: false }],
        maxTurns: 5,
      }),
    ).toEqual([
      'The caller says "A table, please."',
      'The caller is silent for 1 second.',
      'The caller gives 1 answer in any order until the agent said /booked/ and the agent did not say "sorry", and otherwise says "Yes."',
      'If the agent said "sorry", the caller says "Why?"',
      'The caller says "Now.", or when the agent said "when".',
      'The caller hangs up unless the agent has asked something: Done.',
      'Check: Agent calls book after caller says "yes", exactly once.',
      'Check: At least one of: agent says "a"; not: agent says /b/.',
      'Check "German", which only lowers the score: The agent answers in German, de.',
      'Criterion for the judge: "Polite."',
      'Criterion for the judge, which only lowers the score: "Short."',
      'The call is cut off after 5 turns or 600 seconds.',
    ]);
  });

  it('says what a caller with a voice does, which checks need a voice call, and what the line is like', () => {
    expect(
      explained({
        script: [
          { say: ['My number is', { pauseMs: 1200 }, 'five', { pauseMs: 80 }, 'six.'] },
          { backchannel: 'mm-hmm', afterMs: 1500 },
          { noise: 'cough', afterMs: 3000 },
          { say: 'Stop.', bargeIn: { afterMs: 4500 } },
          { noise: 'door' },
          { press: '12#' },
        ],
        checks: [
          { type: 'yields_within_ms', ms: 900 },
          { type: 'keeps_speaking' },
          { type: 'max_interruptions', count: 0 },
          { type: 'max_interruptions', count: 1 },
          { type: 'max_overlap_ms', ms: 500 },
          { type: 'speaking_rate', minWpm: 100, maxWpm: 200 },
          { type: 'audio_level', minDbfs: -40, maxClippedPercent: 1 },
          { type: 'max_choppiness', perMinute: 2 },
          { type: 'clean_protocol' },
          { type: 'hears_keys', keys: '12#' },
          { type: 'hears_keys', keys: '2', then: { tool: 'find' } },
          { type: 'hears_keys', keys: '1', then: { transfer: '+1555' } },
          { type: 'understood', values: [{ value: 'Rossi' }, { tool: 'book', argument: 'name' }] },
        ],
        conditions: { noise: { type: 'babble', snrDb: 20 }, packetLossPercent: 1 },
      }),
    ).toEqual([
      'The caller says "My number is five six." and hesitates for 1200, 80 ms.',
      'The caller says "mm-hmm" after hearing the agent for 1500 ms.',
      'The caller makes a noise (cough) after hearing the agent for 3000 ms.',
      'The caller says "Stop.", over the agent after hearing it for 4500 ms.',
      'The caller makes a noise (door) in silence.',
      'The caller presses 12#.',
      'Check: The agent stops speaking within 900 ms when the caller barges in.',
      'Check: The agent keeps its turn through every backchannel and noise of the caller.',
      'Check: The agent never interrupts the caller.',
      'Check: The agent interrupts the caller at most 1 time.',
      'Check: The agent speaks over the caller for at most 500 ms.',
      'Check: The agent speaks 100 to 200 words per minute.',
      "Check: The agent's speech has a level of at least -40 dBFS and at most 1 % of the agent's audio is clipped.",
      "Check: The agent's speech has at most 2 gaps per minute.",
      'Check: The agent keeps to the protocol of its platform.',
      'Check: After the keys 12#, agent says something or transfers the call.',
      'Check: After the keys 2, agent calls find.',
      'Check: After the keys 1, agent transfers the call to "+1555".',
      'Check: Understood, the same value: "Rossi"; argument name of book.',
      'On voice calls the line has babble noise 20 dB below the caller, 1 % packet loss.',
      'The call is cut off after 40 turns or 600 seconds.',
    ]);
  });

  it('says that a language model plays a caller without a script, and shortens long scripts', () => {
    expect(explained({})).toEqual([
      'A language model plays the caller "Regular".',
      'The call is cut off after 40 turns or 600 seconds.',
    ]);
    const long = explained({ script: Array.from({ length: 25 }, () => ({ say: 'x'.repeat(500) })) });
    expect(long).toHaveLength(22);
    expect(long[20]).toBe('The script has 5 more steps.');
    expect(long[0]!.length).toBeLessThan(160);
  });

  it('describes checks whose variables are not replaced yet', () => {
    const checks = [{ type: 'language', language: '{{language}}' }] as DefinitionInput['checks'];
    expect(explained({ checks: checks! })[1]).toBe('Check: The agent answers in {{language}}.');
  });
});
