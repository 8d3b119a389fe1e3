import type { AnswersSpec } from '../../evaluation-definition/index.js';
import { type CallView, isVoice, type Placed, type Utterance } from '../timeline/call-view.js';
import type { SpeechEntry } from '../timeline/timeline.js';
import { count, failedBy, type Finding, undecided, wordsAt } from './check-result.js';
import { isAnnouncement } from './announcements.js';
import { limitsText } from './happens.js';
import { type Leaves, WITHOUT_WORDS } from './kind.js';

export const ANSWERS = {
  answers: { ...WITHOUT_WORDS, evaluate: (check, { view }) => answersWithin(check, view) },
} satisfies Pick<Leaves, AnswersSpec['type']>;

/** An answer of the agent in a turn. */
interface Answer {
  readonly first: Placed<SpeechEntry>;
  /** Whether it may belong to another turn, or to the answer before it. */
  readonly isOpen: boolean;
}

function answersWithin({ times: { min = 0, max = Infinity }, turn }: AnswersSpec, view: CallView): Finding {
  // What the agent begins while the caller speaks again belongs to the part of the call, too.
  const inTurn = (each: Utterance) => (view.part ? (turn ?? firstTurn(view)) : each.turn);
  const spoken = view.utterances;
  const turns = [...new Set(spoken.map(inTurn))].filter((each) => each > 0 || turn === 0 || max < Infinity);
  const found = turns.map((each) => ({
    turn: each,
    answers: answersIn(
      spoken.filter((one) => inTurn(one) === each),
      view,
    ),
  }));
  const limits = limitsText(min, max);
  const sure = ({ answers }: { answers: readonly Answer[] }) => answers.filter(({ isOpen }) => !isOpen).length;
  const isGreeting = (each: { turn: number }) => each.turn === 0 && turn !== 0;
  const tooMany = found.find((each) => sure(each) > max);
  const tooFew = found.find((each) => each.answers.length < min && !isGreeting(each));
  const missed = tooMany ?? tooFew;
  if (missed || (found.length === 0 && min > 0)) {
    const detail = `The agent gave ${count(missed?.answers.length ?? 0, 'answer')} in turn ${missed?.turn ?? turn ?? 1}; ${limits}`;
    const evidence = (missed?.answers ?? []).slice(0, 5).map(({ first }) => wordsAt(first));
    return failedBy(
      { met: false, detail, evidence },
      tooMany?.answers.filter(({ isOpen }) => !isOpen)[max]?.first.index,
    );
  }
  const open = found.find((each) => each.answers.length > max || (sure(each) < min && !isGreeting(each)));
  if (open) {
    const { first } = open.answers.find(({ isOpen }) => isOpen)!;
    const why = `${count(open.answers.length, 'answer')}, of which one may belong to another turn or to the answer before it`;
    return undecided(`The agent may have given ${why}, in turn ${open.turn}; ${limits}`, [wordsAt(first)]);
  }
  const most = Math.max(0, ...found.map(({ answers }) => answers.length));
  return { met: true, detail: `The agent gave at most ${count(most, 'answer')} in a turn; ${limits}`, evidence: [] };
}

const firstTurn = ({ utterances }: CallView): number => Math.min(...utterances.map(({ turn }) => turn));

/** @param spoken what both sides said in the turn */
function answersIn(spoken: readonly Utterance[], view: CallView): Answer[] {
  const callerEnd = Math.max(0, ...partsOf(spoken, 'caller').map(({ entry }) => entry.end));
  const answers: (Answer & { text: string; isKnown: boolean })[] = [];
  let before: Placed<SpeechEntry> | undefined;
  for (const part of partsOf(spoken, 'agent')) {
    // It only asked whether the caller is still there, while the tester thought.
    if (part.entry.promptedByWait) continue;
    const last = answers.at(-1);
    const afterTool =
      before !== undefined && view.toolCalls.some(({ index }) => index > before!.index && index < part.index);
    const isNew = before === undefined || (isVoice(part.entry) ? isAfterTurnEnd(part, view) : !part.entry.continues);
    const isKnown = (part.entry.words ?? 'known') === 'known';
    if (last && (!isNew || (afterTool && last.isKnown && isAnnouncement(last.text)))) {
      last.text += ` ${part.entry.text}`;
      last.isKnown &&= isKnown;
    } else {
      const stalledMs = before ? view.stallWithin(before.entry.end, part.entry.start, 'agent') : 0;
      const isUncertain = isVoice(part.entry) && (part.entry.start < callerEnd || stalledMs > 0);
      // Words before a tool call may be an answer, as in livekit/agents#6411, or lead to the one after it.
      const mayContinue = last !== undefined && afterTool && !isRepetition(last.text, part.entry.text);
      const isOpen = isUncertain || mayContinue;
      answers.push({ first: part, isOpen, text: part.entry.text, isKnown });
    }
    before = part;
  }
  return answers.flatMap((answer) => (isSaidTwice(answer) ? [answer, answer] : [answer]));
}

const partsOf = (spoken: readonly Utterance[], speaker: Utterance['speaker']) =>
  spoken.filter((each) => each.speaker === speaker).flatMap(({ parts }) => parts);

/** Every other silence between two sounds is a pause inside a turn of the agent. */
const isAfterTurnEnd = ({ index }: Placed, view: CallView): boolean =>
  !view.pauses.some(({ part }) => part.index === index);

/** Fewer words are said again in many answers: "One moment, please." */
const MIN_WORDS = 4;

const wordsOf = (text: string): readonly string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

/** Whether the words after a tool call are those before it. */
function isRepetition(before: string, after: string): boolean {
  const [a, b] = [wordsOf(before), wordsOf(after)];
  const [short, long] = a.length < b.length ? [a, b] : [b, a];
  return short.length >= MIN_WORDS && ` ${long.join(' ')} `.includes(` ${short.join(' ')} `);
}

/** Whether one message over text has the same answer twice: a recogniser may hear words twice. */
function isSaidTwice({ first, text }: Answer & { text: string }): boolean {
  const words = wordsOf(text);
  const half = words.length / 2;
  if (isVoice(first.entry) || half < MIN_WORDS) return false;
  return words.slice(0, half).join(' ') === words.slice(half).join(' ');
}
