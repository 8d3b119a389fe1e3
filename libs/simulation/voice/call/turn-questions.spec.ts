import { PlayoutBuffer } from '../../../audio/index.js';
import { Ear } from '../hearing/ear.js';
import type { TurnQuestion } from '../facts/turn-question.js';
import { planOf, say, speech } from '../testing/virtual-calls.js';
import type { WireFactory, WireSide } from '../wire/wire.js';
import { MediaCall } from './media-call.js';

const TURN_MS = 6_000;

/** A call whose caller is asked at each turn, and says a line at once if it has an answer. */
function askedCall(hasAnswer: boolean) {
  const questions: TurnQuestion[] = [];
  let side!: WireSide;
  const wire: WireFactory = (given) => {
    side = given;
    return { open: (now) => side.ready(now), frame: () => undefined, message: () => undefined, stop: () => undefined };
  };
  const plan = planOf([], { asked: { inSilence: false }, firstSpeaker: 'agent', maxDurationSeconds: 3_600 });
  const call = new MediaCall(plan, wire, {
    send: () => undefined,
    onTurn: (question) => {
      questions.push(question);
      const { turn, attempt } = question;
      if (hasAnswer)
        call.answer({ turn, attempt, reason: 'model', steps: [{ ...say(500), step: null }], isComplete: false });
    },
  });
  call.start(0);
  return { call, side, questions };
}

/** The agent speaks in two items and says their words; the second one goes on in the next turn. */
function speak({ call, side }: ReturnType<typeof askedCall>, turns: number): void {
  for (let now = 20; now <= turns * TURN_MS; now += 20) {
    const turn = Math.floor(now / TURN_MS);
    const into = now % TURN_MS;
    if (into >= 2_000 && into < 2_600) side.play(now, speech(20), turn);
    if (into >= 2_600 && into < 3_000) side.play(now, speech(20), turn + 1);
    if (into === 3_000) side.said(now, `Sentence ${turn}`, { item: turn });
    call.tick(now);
  }
}

describe('the questions to a caller', () => {
  afterEach(() => jest.restoreAllMocks());

  it('have the same words of the turn as the whole call, also of an item that began before the turn', () => {
    const asked = askedCall(true);
    speak(asked, 8);
    jest.spyOn(Ear.prototype, 'factsSince').mockImplementation(function (this: Ear, _turn, ...times) {
      return this.facts(...times);
    });
    const byWholeCall = askedCall(true);
    speak(byWholeCall, 8);
    expect(asked.questions.length).toBeGreaterThan(6);
    expect(asked.questions[3]!.utterances).toMatchObject([{ text: '3' }, { text: null }]);
    expect(asked.questions).toEqual(byWholeCall.questions);
  });

  it('are computed from the audio since the line of the caller, not from the whole call', () => {
    const since = jest.spyOn(PlayoutBuffer.prototype, 'arrivalsSince');
    const whole = jest.spyOn(PlayoutBuffer.prototype, 'arrivals', 'get');
    speak(askedCall(true), 30);
    const counts = since.mock.results.map(({ value }) => (value as unknown[]).length);
    expect(counts.length).toBeGreaterThan(25);
    expect(Math.max(...counts.slice(20))).toBeLessThanOrEqual(Math.max(...counts.slice(1, 4)));
    expect(whole).not.toHaveBeenCalled();
  });

  it('are asked again when words arrive, less often the longer other words are missing', () => {
    const asked = askedCall(false);
    const { call, side, questions } = asked;
    for (let now = 20; now <= 30_000; now += 20) {
      if (now <= 500) side.play(now, speech(20), 1);
      side.said(now, 'more ', { item: 2, final: false });
      if (now === 8_000) side.said(now, 'Hello.', { item: 1 });
      call.tick(now);
    }
    const first = questions.findIndex(({ utterances }) => utterances.every(({ text }) => text !== null));
    expect(questions[first]!.utterances).toMatchObject([{ text: 'Hello.' }]);
    // Nothing is missing any more.
    expect(first).toBe(questions.length - 1);
    expect(first).toBeGreaterThan(5);
    expect(first).toBeLessThan(40);
  });
});
