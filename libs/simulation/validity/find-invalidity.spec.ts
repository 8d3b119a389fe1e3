import type { EndCode, TimelineEntry } from '../index.js';
import { findInvalidity } from './find-invalidity.js';

const SCENARIO =
  'You want a table for four on Friday at 19:30 under the name Rossi. Your number is oh one seven oh, five five five, one two three four.';

/**
 * A dialogue with a line per utterance: `A` is the agent, `C` the caller, `I` the caller as it interrupts, `-` a silence of the
 * agent.
 */
function conduct(dialogue: string, code: EndCode = 'caller_done') {
  const entries: TimelineEntry[] = [];
  let turn = 0;
  for (const line of dialogue.trim().split('\n')) {
    const [who, text] = [line.trim()[0], line.trim().slice(2).replaceAll('\\n', '\n')];
    if (who === 'C' || who === 'I') turn++;
    const span = { start: entries.length, end: entries.length, turn };
    if (who === '-') entries.push({ type: 'silence', of: 'agent', ...span });
    else if (who === 'A') entries.push({ type: 'speech', speaker: 'agent', text, ...span });
    else {
      const interrupts = who === 'I' && { bargeIn: { afterMs: 1_000, possible: true } };
      entries.push({ type: 'speech', speaker: 'caller', text, ...interrupts, ...span });
    }
  }
  const by = code === 'caller_done' ? 'caller' : code === 'agent_hung_up' ? 'agent' : 'tester';
  const at = entries.length;
  entries.push({ type: 'end', by, code, reason: '', start: at, end: at, turn });
  const found = findInvalidity({
    kind: 'generated',
    entries,
    wasAgentActing: false,
    personality: { name: 'Plain caller' },
    scenario: { scenarioText: SCENARIO },
  });
  return found && [found.code, found.evidence[0]?.entry];
}

const repeat = (count: number, ...lines: string[]): string => Array<string[]>(count).fill(lines).flat().join('\n');

describe('conduct of the caller', () => {
  it.each([
    ['hangs up on a question', 'C A table.\nA For how many people?', ['ended_early', 1]],
    ['hangs up on a request', 'C A table.\nA Sure. Please give me your name.', ['ended_early', 1]],
    ['hangs up on a request in German', 'C Ein Tisch.\nA Bitte nennen Sie mir Ihren Namen.', ['ended_early', 1]],
    ['hangs up on a need', 'C A table.\nA I just need your phone number.', ['ended_early', 1]],
    ['says goodbye to a question', 'C A table.\nA How many?\nC Thank you, goodbye.\nA Bye.', ['ended_early', 2]],
    ['says goodbye to a request', 'C A table.\nA Your name, please.\nC Great, thanks! Bye.', ['ended_early', 2]],
    ['says goodbye and does not wait', 'C Book it, goodbye.\nA One moment, please.', ['ended_early', 1]],
    ['says nothing but goodbye', 'C Thank you, goodbye.\nA For how many people?', ['ended_early', 0]],
    ['never speaks', 'A Good day.', ['ended_early', undefined]],
  ])('is invalid when it %s', (_what, dialogue, expected) => expect(conduct(dialogue)).toEqual(expected));

  it('is invalid when the agent hangs up because the caller said goodbye to a question', () => {
    const dialogue = 'C A table.\nA How many?\nC Goodbye.\nA Goodbye.';
    expect(conduct(dialogue, 'agent_hung_up')).toEqual(['ended_early', 2]);
    expect(conduct('C A table.\nA How many?\nC Thanks.\nA Goodbye.', 'agent_hung_up')).toBeUndefined();
    expect(conduct('C A table.\nA How many?', 'agent_hung_up')).toBeUndefined();
  });

  it.each([
    ['declines with a reason', 'C A table.\nA Shall I book it?\nC No, I changed my mind. Goodbye.\nA Goodbye.'],
    ['declines further help', 'C A table.\nA It is booked. Anything else I can do?\nC Thank you, goodbye.\nA Bye.'],
    ['leaves a closing remark', 'C A table.\nA It is booked. Please let me know if you need anything else.'],
    ['is asked after its goodbye', 'C A table.\nA Booked.\nC Thanks, goodbye.\nA Would you rate the call?'],
    ['leaves an agent that asks again', repeat(2, 'C Four, as I said.', 'A How many people?') + '\nC Goodbye.\nA Bye.'],
    ['leaves when the agent says goodbye', 'C A table.\nA Is it raining? Anyway, goodbye.'],
  ])('is valid when it %s', (_what, dialogue) => expect(conduct(dialogue)).toBeUndefined());

  it.each([
    ['ping-pong', repeat(2, 'C I want a table.', 'A How many?', 'C Who is there?', 'A Bella Vista.'), 4],
    [
      'ping-pong of which the agent understands one line',
      repeat(2, 'C Until when are you open?', 'A Until ten.', 'C Where is that?', "A Sorry, I didn't get that."),
      4,
    ],
    ['a circle of three', repeat(2, 'C A table.', 'A Ok?', 'C Hello there.', 'A Yes.', 'C Who is it?', 'A Me.'), 6],
    ['one line', 'C I want a table.\nA How many?\nC I want a table!\nA Which day?\nC I want a table.\nA Name?', 2],
    ['one line to an agent that then repeats itself', repeat(5, 'C I want a table.', 'A How many?'), 2],
    [
      'nearly the same line',
      'C Well, I would like to book a table for dinner.\nA How many?\nC I would like to book a table for dinner tonight.\nA Which day?\nC Um, I would like to book a table for dinner, please.\nA Name?',
      2,
    ],
  ])('is invalid when it repeats itself: %s', (_what, dialogue, entry) => {
    expect(conduct(dialogue, 'max_turns')).toEqual(['repeated_itself', entry]);
  });

  it.each([
    ['gives the same answers to the same questions', repeat(4, 'A How many?', 'C Four.', 'A Which day?', 'C Friday.')],
    [
      'repeats a line that the agent did not understand',
      repeat(6, 'C A table, please.', "A Sorry, I didn't get that."),
    ],
    [
      'alternates between two ways to say what the agent never understands',
      repeat(3, 'C A table.', "A Sorry, I didn't get that.", 'C I want to book.', 'A Could you repeat that?'),
    ],
    ['repeats a line after silences', 'C Hello?\n-\nC Hello?\n-\nC Hello?\nA Yes.'],
    [
      'agrees several times',
      'C Hi.\nA Four?\nC Yes.\nA Friday?\nC Yes.\nA Half past?\nC Yes.\nA Rossi?\nC Yes.\nA Ok.',
    ],
    ['corrects one detail', 'C A table for four on Friday.\nA For five?\nC A table for six on Friday.\nA Ok.'],
  ])('is valid when it %s', (_what, dialogue) => expect(conduct(dialogue, 'max_turns')).toBeUndefined());

  it('is valid whatever it was given to interrupt the agent with', () => {
    const dialogue = (who: string) =>
      `C A table.\n${['How many?', 'Which day?', 'A name?'].map((text) => `A ${text}\n${who} Sorry, one moment.`).join('\n')}`;
    expect(conduct(`${dialogue('I')}\nA Yes?\nC No, I changed my mind. Goodbye.\nA Bye.`)).toBeUndefined();
    expect(conduct(`${dialogue('C')}\nA Yes?\nC No, I changed my mind. Goodbye.\nA Bye.`)).toEqual([
      'repeated_itself',
      4,
    ]);
    // Its own words stay in their places.
    expect(conduct('C Hello.\nA Hi.\nI Sorry.\nC How can I help you?\nA Ok.')).toEqual(['spoke_as_agent', 3]);
  });

  it.each<[string, string, EndCode, unknown]>([
    [
      'talks on after the goodbyes',
      'C A table.\nA Booked. Goodbye.\nC Goodbye.\nA Bye.\nC Nice weather.\nA Yes.\nC And the sea.\nA Yes.',
      'max_turns',
      ['never_ended', 4],
    ],
    [
      'only thanks an agent that is done',
      'C A table for four.\nA Booked.\nC Great, thank you.\nA Anything else?\nC No, thanks.\nA Fine.\nC Thank you.\nA Sure.',
      'max_duration',
      ['never_ended', 2],
    ],
    [
      'is kept by the agent',
      'C A table.\nA Goodbye?\nC Bye.\nA Your name?\nC Rossi.\nA How many?\nC Four.',
      'max_turns',
      undefined,
    ],
    ['still books', 'C A table.\nA How many?\nC Four.\nA Which day?\nC Friday.\nA What time?', 'max_turns', undefined],
  ])('when it %s', (_what, dialogue, code, expected) => expect(conduct(dialogue, code)).toEqual(expected));

  it.each([
    ['an e-mail address', 'C A table.\nA Ok.\nC I am rossi@made-up.test.\nA Ok.', 2],
    ['a telephone number', 'C My number is 0170 999 9999.\nA Ok.', 0],
    ['a reference', 'C My booking reference is BV-1042.\nA Ok.', 0],
    ['a name', 'C My name is Bianchi.\nA Ok.', 0],
    ['a name in German', 'C Ein Tisch. Ich heiße Müller.\nA Gut.', 0],
  ])('is invalid when it invents %s', (_what, dialogue, entry) => {
    expect(conduct(dialogue)).toEqual(['invented_fact', entry]);
  });

  it.each([
    ['its name', 'C My name is Rossi.\nA Ok.'],
    ['its name with a first name', 'C My name is Anna Rossi.\nA Ok.'],
    ['a number that the scenario spells out', 'C My number is 0170 555 1234.\nA Ok.'],
    [
      'a reference that the agent gave',
      'C A table.\nA Your reference is BV-1042.\nC So my reference is BV 1042.\nA Yes.',
    ],
    ['a name that the agent said', 'C Hi.\nA Are you Mr Verdi?\nC No, but under the name Verdi there is one.\nA Ok.'],
  ])('is valid when it states %s', (_what, dialogue) => expect(conduct(dialogue)).toBeUndefined());

  it.each([
    ['offers help', 'C Hello, how may I help you?\nA Ok.', 'spoke_as_agent'],
    ['writes both sides', 'C A table.\\nAgent: It is booked.\nA Ok.', 'spoke_as_agent'],
    ['labels itself', 'C **Assistant:** Hello.\nA Ok.', 'spoke_as_agent'],
    [
      'says a line of the agent',
      'C Hi.\nA Your table is booked now.\nC Hm.\nA Yes.\nC Your table is booked now.\nA Ok.',
      'spoke_as_agent',
    ],
    ['asks every question back', repeat(2, 'A For how many people?', 'C For how many people?'), 'spoke_as_agent'],
    ['refuses as a model', "C I'm sorry, but I can't assist with that.\nA Ok.", 'left_role'],
    ['describes itself', 'C *hangs up*\nA Ok.', 'left_role'],
  ])('is invalid when it %s', (_what, dialogue, code) => expect(conduct(dialogue)?.[0]).toBe(code));

  it('is judged by its first break, wherever the rule stands', () => {
    const dialogue = 'C *smiles*\nA Ok.\nC My name is Bianchi.\nA How many?';
    expect(conduct(dialogue)).toEqual(['left_role', 0]);
  });
});
