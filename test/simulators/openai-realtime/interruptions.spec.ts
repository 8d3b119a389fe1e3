import { createHash } from 'node:crypto';
import type { EvaluationInput } from '../../../libs/evaluation-definition/index.js';
import type { CallResult, LanguageModel } from '../../../libs/simulation/index.js';
import type { VirtualClock } from '../../../libs/simulation/index.js';
import { sample } from '../../../libs/statistics/testing/sample.js';
import type { Dialogue, SpokenAnswer } from '../agent/voice/spoken-dialogue.js';
import { LearningRecogniser } from '../agent/voice/testing/model-cells.js';
import { spokenWords } from '../agent/voice/testing/scripted-agent.js';
import { type RealtimeCallOptions, VoiceCalls } from '../agent/voice/testing/voice-call.js';

const calls = new VoiceCalls();
beforeAll(() => calls.prepare(), 180_000);
afterAll(() => calls.close());

const ROOMS = 'We have a large room with a view of the harbour, and a smaller one with a fireplace, where it is quiet.';
const WORDS = {
  people: `${ROOMS} For how many people?`,
  day: 'You can come on any day but Monday, and on Sundays we have live music from noon until late. Which day?',
  name: 'I will write that down for you, and keep a table by the window if there is one left. Your name, please?',
  booked: 'Your table is booked, and we look forward to seeing you and your guests here very soon.',
  bye: 'Goodbye.',
  goAhead: 'Yes, go ahead.',
} as const;
/** What the caller says to each question. */
const ANSWERS: readonly [RegExp, object][] = [
  [/how many/, { say: 'For four people, please.', end: null }],
  [/Which day/, { say: 'On Friday, please.', end: null }],
  [/Your name/, { say: 'The name is Rossi.', end: null }],
  [/booked/, { say: 'Thank you, goodbye.', end: 'It is booked' }],
];
const KEEPS_ROLE = { met: true, quote: "I'd like to book a table", reasoning: 'It asks for a table.' };
const INTERRUPTS = /sorry|wait/i;

/** Asks again what it was not let finish. */
class TalkativeDialogue implements Dialogue {
  private said = '';

  answer(said = ''): SpokenAnswer {
    if (INTERRUPTS.test(said)) return { text: WORDS.goAhead };
    this.said += ` ${said}`;
    if (/goodbye/i.test(said)) return { text: WORDS.bye };
    if (!/four/.test(this.said)) return { text: WORDS.people };
    if (!/Friday/.test(this.said)) return { text: WORDS.day };
    return { text: /Rossi/.test(this.said) ? WORDS.booked : WORDS.name };
  }

  result(): void {}

  press() {
    return { text: '' };
  }
}

/** Plays the caller on the call's clock: answers what was asked last, and otherwise asks for a table. */
function callerModel(thinkMs: number, prompts: string[][]): LanguageModel {
  const ask = async (messages: readonly { role: string; content: string }[], { clock }: { clock: VirtualClock }) => {
    if (messages[0]!.content.startsWith('You judge')) return JSON.stringify(KEEPS_ROLE);
    prompts.push(messages.map(({ content }) => content));
    await clock.sleep(thinkMs);
    const heard = messages.at(-1)!.content;
    const [, line] = ANSWERS.find(([question]) => question.test(heard)) ?? [];
    return JSON.stringify(line ?? { say: "Hello, I'd like to book a table, please.", end: null });
  };
  return { model: 'double', prices: undefined, ask } as unknown as LanguageModel;
}

interface Played {
  readonly result: CallResult;
  readonly prompts: readonly (readonly string[])[];
  readonly hash: string;
}

class BriefDialogue extends TalkativeDialogue {
  override answer(said = ''): SpokenAnswer {
    const { text } = super.answer(said);
    return { text: text === WORDS.people ? 'How many?' : text === WORDS.day ? 'Which day?' : 'Bye.' };
  }
}

async function agentWith(dialogue: Dialogue, recogniser = new LearningRecogniser()) {
  const say = await spokenWords(calls.synthesiser, [...Object.values(WORDS), 'How many?', 'Which day?', 'Bye.']);
  return { voice: { say }, recogniser, dialogue: () => dialogue };
}

async function play(
  evaluation: Partial<EvaluationInput> = {},
  { thinkMs = 300, ...options }: Partial<RealtimeCallOptions> & { readonly thinkMs?: number } = {},
): Promise<Played> {
  const recogniser = new LearningRecogniser();
  const prompts: string[][] = [];
  const hash = createHash('sha256');
  const what = { key: 'booking', personalityId: 'any', name: 'Books a table', scenarioText: 'You want a table.' };
  const result = await calls.callRealtime({ ...what, maxTurns: 20, ...evaluation }, 'slt', {
    ...{ interrupts: true, firstSpeaker: 'caller', responseMs: 700, model: callerModel(thinkMs, prompts) },
    prepared: await agentWith(new TalkativeDialogue(), recogniser),
    onSynthesised: (text, pcm) => recogniser.learn(text, pcm),
    recording: { audio: (part) => void hash.update(part), wire: (lines) => void hash.update(lines.join('\n')) },
    ...options,
  });
  return { result, prompts, hash: hash.digest('hex') };
}

const YIELDS = { type: 'yields_within_ms', ms: 1_000 } as const;
const BOOKED = { type: 'says', text: 'is booked' } as const;
const interruptionsOf = ({ timeline }: CallResult) =>
  timeline.flatMap((entry) => (entry.type === 'speech' && entry.bargeIn ? [entry] : []));
const agentSays = ({ timeline }: CallResult) =>
  timeline.flatMap((entry) => (entry.type === 'speech' && entry.speaker === 'agent' ? [entry] : []));

describe('a generated caller that interrupts a healthy agent', () => {
  let played: Played;
  beforeAll(async () => {
    played = await play({ checks: [YIELDS, BOOKED, { type: 'max_turns', turns: 5 }] });
  }, 60_000);

  it('is yielded to, which counts against the agent in no measure', () => {
    const { outcome, voice, invalidity, checks } = played.result;
    expect([outcome, invalidity]).toEqual(['passed', null]);
    expect(checks.map(({ met }) => met)).toEqual([true, true, true]);
    const { bargeIns, interruptions, collisions, overlapMs, deadAir } = voice!.voice;
    expect(bargeIns.length).toBeGreaterThan(0);
    for (const { possible, yielded, afterHeardMs } of bargeIns) {
      expect([possible, yielded]).toEqual([true, true]);
      expect(afterHeardMs).toBeGreaterThanOrEqual(800);
      expect(afterHeardMs).toBeLessThanOrEqual(1_800);
    }
    expect({ interruptions, collisions, overlapMs, over3s: deadAir.over3s }).toEqual({
      ...{ interruptions: [], collisions: 0, overlapMs: 0, over3s: 0 },
    });
    expect(voice!.wireFindings).toEqual([]);
  });

  it('does not wait for an answer to its interruption, and thinks about how it goes on in its own time', () => {
    const { voice, timeline } = played.result;
    const turns = interruptionsOf(played.result).map(({ turn }) => turn);
    for (const turn of turns) {
      expect(voice!.voice.latencies.map((latency) => latency.turn)).not.toContain(turn);
      expect(voice!.voice.callerThinking!.some((thought) => thought.turn === turn + 1)).toBe(true);
      expect(timeline.some((entry) => entry.type === 'speech' && entry.turn === turn + 1)).toBe(true);
    }
  });

  it('prompts the model with the heard text and its own interrupting words', () => {
    const { text } = interruptionsOf(played.result)[0]!;
    const heard = agentSays(played.result)[0]!.text;
    expect(heard).toMatch(/^We have a large room/);
    expect(played.prompts[1]!.slice(-3)).toEqual([
      JSON.stringify({ agent: heard, call: 'You interrupt the agent.' }),
      JSON.stringify({ say: text, end: null }),
      expect.stringContaining('You have interrupted the agent'),
    ]);
  });

  it('shows what the agent had ready and did not say', () => {
    expect(agentSays(played.result)[0]).toMatchObject({
      interrupted: true,
      unheard: expect.stringContaining('of the harbour, and a smaller one'),
    });
  });
});

describe('a generated caller that interrupts', () => {
  it('counts against no healthy agent, whatever the seed and the time that its model takes', async () => {
    const checks = [
      YIELDS,
      BOOKED,
      { type: 'max_interruptions', count: 0 },
      { type: 'max_latency_ms', ms: 2_500 },
    ] as const;
    const callers = [300, 650, 700, 750, 1_200, 2_600].flatMap((thinkMs) =>
      [1, 2, 3, 4, 5].map((seed) => ({ thinkMs, seed })),
    );
    const wrong: unknown[] = [];
    for (const { thinkMs, seed } of sample(callers)) {
      const { result } = await play({ checks, conditions: { seed } }, { thinkMs });
      const { interruptions, deadAir } = result.voice!.voice;
      const isRight = result.outcome === 'passed' && interruptions.length + deadAir.over3s === 0;
      if (!isRight) wrong.push({ thinkMs, seed, reason: result.reason, interruptions });
    }
    expect(wrong).toEqual([]);
  }, 120_000);

  it('lets an agent speak that answers its interruption first, and the model knows all of it', async () => {
    const { result, prompts } = await play({ checks: [YIELDS, BOOKED] }, { thinkMs: 1_600 });
    expect(result.outcome).toBe('passed');
    expect(agentSays(result).map(({ text }) => text)).toContain(WORDS.goAhead);
    const asked = prompts.filter((messages) => messages.at(-1) === JSON.stringify({ agent: WORDS.goAhead }));
    expect(asked[0]!.at(-3)).toContain('You interrupt the agent.');
    expect(result.voice!.voice.interruptions).toEqual([]);
  }, 60_000);

  it('fails an agent that speaks on, for that alone', async () => {
    const { result } = await play({ checks: [YIELDS, BOOKED] }, { fault: 'ignores-barge-in' });
    expect(result.outcome).toBe('failed');
    expect(result.checks.map(({ met }) => met)).toEqual([false, true]);
    expect(result.reason).toContain('did not yield');
    expect(result.voice!.voice.bargeIns.every(({ yielded }) => yielded === false)).toBe(true);
  }, 60_000);

  it('is the same call when it is repeated, and another one with another seed', async () => {
    const [first, second, other] = [await play(), await play(), await play({ conditions: { seed: 2 } })];
    expect(second.hash).toBe(first.hash);
    expect(JSON.stringify(second.result.timeline)).toBe(JSON.stringify(first.result.timeline));
    const planOf = ({ result }: Played) =>
      interruptionsOf(result).map(({ turn, text, bargeIn }) => [turn, text, bargeIn]);
    expect(planOf(other)).not.toEqual(planOf(first));
  }, 60_000);

  it('leaves out an interruption for which an answer is too short', async () => {
    const { result } = await play({}, { prepared: await agentWith(new BriefDialogue()) });
    expect(interruptionsOf(result)).toEqual([]);
    expect(result.voice!.voice.bargeIns).toEqual([]);
  }, 60_000);

  it('never does without the setting, nor with a script', async () => {
    const [without, { result }] = [await play({}, { interrupts: false }), await play()];
    expect(interruptionsOf(without.result)).toEqual([]);
    expect(interruptionsOf(result)).not.toEqual([]);
    const script = [{ say: "Hello, I'd like to book a table, please." }, { say: 'For four people, please.' }];
    const [scripted, other] = [await play({ script }), await play({ script }, { interrupts: false })];
    expect(scripted.hash).toBe(other.hash);
    expect(interruptionsOf(scripted.result)).toEqual([]);
  }, 60_000);
});
