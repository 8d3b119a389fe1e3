import type { DefinitionInput } from '../../evaluation-definition/index.js';
import { RecogniserError } from '../../speech/index.js';
import {
  agent,
  agentTexts,
  ASKING,
  BOOKS,
  call,
  FAULTY,
  type Given,
  HEALTHY,
  type Hearing,
  NEVER_FULL,
  outcomeOf,
  SENTENCES,
  WITH_WORDS,
} from '../testing/recognised-calls.js';

/** Met by two turns. */
const ANSWERS = { checks: [{ type: 'says', pattern: 'Bella|booked' }] } satisfies DefinitionInput;

describe('the words of an agent of which only sound is known', () => {
  it('are those that a recogniser heard', async () => {
    const { result, requests } = await call(BOOKS);
    expect(outcomeOf(result)).toEqual(['passed', null]);
    expect(agentTexts(result)).toEqual([SENTENCES[900], SENTENCES[3_000], SENTENCES[1_500]]);
    expect(result.voice).toMatchObject({ wordsFrom: { source: 'recogniser', model: 'small', times: 'utterance' } });
    // The words that meet the check are in one turn only, and heard again.
    expect(requests.map(({ language, rate }) => [language, rate])).toEqual(new Array(6).fill(['en', 16_000]));
    expect(outcomeOf((await call(BOOKS, { script: FAULTY })).result)).toEqual(['failed', null]);
    expect(outcomeOf((await call(NEVER_FULL, { script: FAULTY })).result)).toEqual(['failed', null]);
  });

  it('lead the caller, and are the same in every call', async () => {
    const { result } = await call({ script: ASKING, ...BOOKS });
    const lines = result.timeline.flatMap((entry) =>
      entry.type === 'speech' && entry.speaker === 'caller' ? [entry.text] : [],
    );
    expect(lines).toEqual(['A table for four at half past seven, please.', 'Yes, please.']);
    expect(result.outcome).toBe('passed');
    const { measures: _, ...first } = result;
    const { measures: __, ...second } = (await call({ script: ASKING, ...BOOKS })).result;
    expect(JSON.stringify(second)).toBe(JSON.stringify(first));
  });

  it('are awaited by the caller, in time that is not the agent’s', async () => {
    const slowly: Hearing = async (text, _, clock) => {
      await clock.sleep(2_000);
      return { text };
    };
    const { result } = await call(
      { script: ASKING, checks: [...BOOKS.checks, { type: 'max_silence_ms', ms: 1_500 }] },
      { hears: slowly },
    );
    expect(result.outcome).toBe('passed');
    expect(result.voice!.voice.callerThinking).toMatchObject([{ reason: 'words' }, { reason: 'words' }]);
  });

  it('are not asked for where the wire reports them, or the call needs none', async () => {
    const byWire = await call(BOOKS, { script: WITH_WORDS, providesWords: true });
    expect([byWire.result.outcome, byWire.requests.length]).toEqual(['passed', 0]);
    expect(byWire.result.voice?.wordsFrom?.source).toBe('wire');
    const unneeded = await call({}, { needed: false });
    expect([unneeded.result.outcome, unneeded.requests.length]).toEqual(['passed', 0]);
    expect(unneeded.result.voice?.wordsFrom).toBeNull();
  });

  it('decide beside those of the wire if they are to, and the difference is shown', async () => {
    const checks = [{ type: 'says', text: 'half past seven' }] satisfies DefinitionInput['checks'];
    const { result } = await call({ checks }, { script: WITH_WORDS, providesWords: true, mode: 'heard' });
    expect(result.outcome).toBe('passed');
    expect(JSON.stringify(result.timeline)).not.toContain('alternative');
    const wrongly: Hearing = (text) => ({ text: text.replace('half past seven', '7:13 pm') });
    const other = await call({ checks }, { script: WITH_WORDS, providesWords: true, mode: 'heard', hears: wrongly });
    expect(outcomeOf(other.result)).toEqual(['failed', null]);
    expect(other.result.timeline).toContainEqual(
      expect.objectContaining({
        text: 'A table for four at 7:13 pm. Shall I book it?',
        alternative: { source: 'wire', text: 'A table for four at 19:30. Shall I book it?' },
      }),
    );
  });
});

describe('a recogniser that fails', () => {
  const down: Hearing = () => {
    throw new RecogniserError('The transcription server stt:80 was not reached', false);
  };
  const refusing: Hearing = () => {
    throw new RecogniserError('The transcription server stt:80 answered with status 401', true);
  };
  const silent: Hearing = () => null;
  const never: Hearing = (_, __, clock) => clock.sleep(600_000).then(() => null);
  const failing = [
    ['is down', down, 'stt_failed', true],
    ['refuses', refusing, 'stt_failed', false],
    ['hears nothing', silent, 'words_unknown', true],
    ['does not answer', never, 'stt_slow', true],
  ] as const;

  it.each(failing)('and %s leaves open what depends on words', async (_, hears, code, retryable) => {
    for (const script of [HEALTHY, FAULTY]) {
      for (const definition of [BOOKS, NEVER_FULL, { script: ASKING, ...BOOKS }]) {
        const { result } = await call(definition, { hears, script });
        expect([...outcomeOf(result), result.failure?.retryable]).toEqual(['error', code, retryable]);
      }
    }
  });

  it.each(failing)('and %s changes nothing else', async (_, hears) => {
    const { result } = await call({ checks: [{ type: 'max_latency_ms', ms: 5_000 }] }, { hears });
    expect(outcomeOf(result)).toEqual(['passed', null]);
    const late = await call({ checks: [{ type: 'max_latency_ms', ms: 1 }] }, { hears });
    expect(outcomeOf(late.result)).toEqual(['failed', null]);
  });

  it('for a part of the words leaves decided what the others decide', async () => {
    const atFirst: Hearing = (text, request) => (request === 1 ? null : { text });
    expect(outcomeOf((await call(BOOKS, { hears: atFirst })).result)).toEqual(['passed', null]);
    expect(outcomeOf((await call(NEVER_FULL, { hears: atFirst, script: FAULTY })).result)).toEqual(['failed', null]);
    expect(outcomeOf((await call(NEVER_FULL, { hears: atFirst })).result)).toEqual(['error', 'words_unknown']);
  });
});

describe('a check that would fail by words that were heard once', () => {
  const atFirst =
    (heard: (text: string) => string, times = 3): Hearing =>
    (text, request) => ({ text: request <= times ? heard(text) : text });

  it('is heard again, each turn as one piece with wider margins', async () => {
    const { result, requests } = await call(BOOKS, { script: FAULTY });
    expect(outcomeOf(result)).toEqual(['failed', null]);
    expect(requests.map(({ pcm, rate }) => Math.round(pcm.length / rate / 0.1) / 10)).toEqual([
      1.2, 3.4, 2.7, 1.7, 3.8, 3.1,
    ]);
    expect((await call(ANSWERS)).requests).toHaveLength(3);
    expect(
      (await call({ checks: [{ type: 'says', text: 'is booked', required: false }] }, { script: FAULTY })).requests,
    ).toHaveLength(3);
  });

  it.each<[string, DefinitionInput, (text: string) => string]>([
    ['meets it', BOOKS, (text) => text.replace('is booked', 'is looked')],
    ['meets it not', NEVER_FULL, (text) => text.replace('It is booked', 'We are full')],
  ])('leaves it open if what is heard then %s', async (_, definition, wrongly) => {
    const { result } = await call(definition, { hears: atFirst(wrongly) });
    expect(outcomeOf(result)).toEqual(['error', 'words_unclear']);
    expect(result.failure?.retryable).toBe(true);
    expect(result.checks[0]).toMatchObject({ met: null, undecided: 'words_unclear' });
  });

  it('leaves it open if the deciding word was heard wrongly both times, in two ways', async () => {
    const twice: Hearing = (text, request) => ({ text: text.replace('booked', request <= 3 ? 'looked' : 'cooked') });
    expect(outcomeOf((await call(BOOKS, { hears: twice })).result)).toEqual(['error', 'words_unclear']);
  });

  it('is heard again, too, if one word is missing to what it forbids', async () => {
    const atFirstOnly = atFirst((text) => text.replace('are full', 'are fool'));
    const { failure } = (await call(NEVER_FULL, { hears: atFirstOnly, script: FAULTY })).result;
    expect(failure?.code).toBe('words_unclear');
    const alike: Hearing = (text) => ({ text: text.replace('It is booked', 'We are booked') });
    const { result, requests } = await call(NEVER_FULL, { hears: alike });
    expect([result.outcome, requests.length]).toEqual(['passed', 6]);
  });

  it('is heard again, too, if the words of one turn meet it', async () => {
    const invented = atFirst((text) => text.replace('We are full', 'It is booked'));
    expect((await call(BOOKS, { hears: invented, script: FAULTY })).result.failure?.code).toBe('words_unclear');
    // Another spelling, or a second hearing that fails, refutes nothing.
    const names: DefinitionInput = { checks: [{ type: 'says', text: 'Bella Vista' }] };
    for (const [second, code] of [['Stella Vista', 'words_unclear'], ['Bellavista'], [null]] as const) {
      const hears: Hearing = (text, request) =>
        request <= 3 ? { text } : second && { text: text.replace('Bella Vista', second) };
      expect((await call(names, { hears })).result.failure?.code).toBe(code);
    }
  });

  it('leaves all checks on words open if the hearings have little in common', async () => {
    const checks = [...BOOKS.checks, { type: 'says', text: 'good evening' }, { type: 'max_turns', turns: 9 }];
    const wild: Hearing = (text, request) => ({
      text: text.replaceAll(/[b-z]+/g, (word) => (request <= 3 ? word : `${word}x`)),
    });
    const { result } = await call({ checks } as DefinitionInput, { hears: wild, script: FAULTY });
    expect(result.checks.map(({ met, undecided }) => [met, undecided])).toEqual([
      [null, 'words_unclear'],
      [null, 'words_unclear'],
      [true, undefined],
    ]);
  });

  it('is failed if other words were heard differently', async () => {
    const elsewhere = atFirst((text) => text.replace('Vista', 'Pista'));
    expect(outcomeOf((await call(BOOKS, { hears: elsewhere, script: FAULTY })).result)).toEqual(['failed', null]);
  });

  it('is open if the second hearing fails', async () => {
    const once: Hearing = (text, request) => (request <= 3 ? { text } : null);
    expect(outcomeOf((await call(BOOKS, { hears: once, script: FAULTY })).result)).toEqual(['error', 'words_unclear']);
  });

  it.each<[string, Given]>([
    ['a passed call', {}],
    ['a failed call', { script: FAULTY }],
    ['a call with unclear words', { hears: atFirst((text) => text.replace('booked', 'looked')) }],
    ['a call without words', { hears: () => null }],
  ])('and every other one has the same result when %s is measured again', async (_, given) => {
    const { result, again, requests } = await call(BOOKS, given);
    const asked = requests.length;
    const measured = await again();
    expect([...outcomeOf(measured), measured.reason]).toEqual([...outcomeOf(result), result.reason]);
    expect([measured.checks, measured.timeline, measured.voice]).toEqual([
      result.checks,
      result.timeline,
      result.voice,
    ]);
    expect(requests).toHaveLength(asked);
  });

  it('is open when it is new and the call was heard once', async () => {
    const { again } = await call(ANSWERS);
    expect(outcomeOf(await again(NEVER_FULL))).toEqual(['passed', null]);
    const { failure } = await again({ checks: [{ type: 'says', text: 'We are full' }] });
    expect(failure?.code).toBe('words_unclear');
  });
});

describe('a caller that decides by words', () => {
  const PATIENT = [
    ASKING[0]!,
    {
      ...ASKING[1],
      answers: [{ when: { says: { text: 'Shall I book' } }, say: 'Yes, please.' }],
      otherwise: 'Pardon?',
    },
    { end: 'Done' },
  ];
  const QUICK = { script: PATIENT, checks: [{ type: 'max_turns', turns: 2 }] } as unknown as DefinitionInput;
  const ASKS_TWICE = agent(3_000, 3_000, 1_500);
  const mishearing =
    (inFirst: string, inSecond: string, other = inFirst): Hearing =>
    (text, request) => {
      if (request === 2) return { text: text.replace('Shall', inFirst) };
      return {
        text: request === 6 ? text.replace('Shall', inSecond) : request > 4 ? text.replace('Vista', other) : text,
      };
    };

  it.each([
    ['the right one', 'Shall'],
    ['another wrong one', 'Small'],
  ])(
    'and heard a wrong word, of which the second hearing has %s, does not fail the agent for its turns',
    async (_, word) => {
      const { result } = await call(QUICK, { script: ASKS_TWICE, hears: mishearing('Shell', word) });
      expect(result.checks[0]).toMatchObject({ type: 'max_turns', met: null, undecided: 'words_unclear' });
      expect(outcomeOf(result)).toEqual(['error', 'words_unclear']);
    },
  );

  it('and did not hear the words that a later line answers does not fail the agent for its turns', async () => {
    const to = { says: { text: 'Shall I book' } };
    const script = [ASKING[0]!, { say: 'Pardon?' }, { to, say: 'Yes, please.' }, { end: 'Done' }];
    const definition = { ...QUICK, script } as unknown as DefinitionInput;
    const { result } = await call(definition, { script: ASKS_TWICE, hears: mishearing('Shell', 'Shall') });
    expect(outcomeOf(result)).toEqual(['error', 'words_unclear']);
  });

  it('fails the agent for its turns if what it decided by was heard alike', async () => {
    const elsewhere = await call(QUICK, { script: ASKS_TWICE, hears: mishearing('Shell', 'Shell', 'Pista') });
    expect(outcomeOf(elsewhere.result)).toEqual(['failed', null]);
  });

  it('fails the agent for what does not depend on its decisions', async () => {
    const checks = [{ type: 'max_latency_ms', ms: 1 }];
    const { result } = await call({ ...QUICK, checks } as DefinitionInput, {
      script: ASKS_TWICE,
      hears: mishearing('Shell', 'Shall'),
    });
    expect(outcomeOf(result)).toEqual(['failed', null]);
  });
});

describe('an agent that seems to speak another language', () => {
  const script = [
    { say: 'I would like to book a table, please.' },
    {
      answers: [{ when: { says: { text: 'how many' } }, say: 'Four.' }],
      until: { says: { text: 'booked' } },
      otherwise: 'Pardon?',
    },
  ];
  const GERMAN =
    'Für wie viele Personen möchten Sie denn am Freitagabend einen Tisch reservieren, und wann kommen Sie zu uns?';
  const ENGLISH =
    'We are sorry to say that there is nothing left on Friday evening, so what other time would suit your guests?';
  const TURNS = 5;
  const speaking = async (second: string) => {
    const { result, requests } = await call(
      { script },
      {
        script: agent(...Array.from({ length: TURNS }, () => 3_000)),
        hears: (_, request) => ({ text: request <= TURNS ? GERMAN : second }),
      },
    );
    return [result.outcome, result.invalidity?.code, result.end.code, requests.length > TURNS];
  };

  it('is failed if both hearings are in that language, and not if they differ', async () => {
    expect(await speaking(GERMAN)).toEqual(['failed', undefined, 'no_answer', true]);
    expect(await speaking(ENGLISH)).toEqual(['invalid', 'no_answer', 'no_answer', true]);
  });
});
