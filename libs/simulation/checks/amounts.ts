import type { TalkRatioSpec } from '../../evaluation-definition/index.js';
import type { CallView } from '../timeline/call-view.js';
import { countWords, wordsOf } from '../measures/measures.js';
import { count, failedBy, type Finding, wordsAt } from './check-result.js';
import { type Leaves, WITHOUT_WORDS } from './kind.js';
import { unknownCaller } from './recorded.js';

export const AMOUNTS = {
  max_turns: { ...WITHOUT_WORDS, evaluate: ({ turns }, { view }) => turnsWithin(turns, view) },
  max_answer_words: {
    evaluate: ({ words }, { view }) => answerWordsWithin(words, view),
    // What is known is the least that was said.
    couldChange: (_, { met }) => met === true,
  },
  talk_ratio: {
    evaluate: (check, { view }) => unknownCaller(view) ?? talkRatioWithin(check, view),
    // More words of the agent only raise its share.
    couldChange: ({ max = 1 }, { met }, { view }) =>
      met === true ? max < 1 : wordsOf(view, 'agent') === 0 || talkRatioWithin({ max }, view).met === true,
  },
} satisfies Pick<Leaves, 'max_turns' | 'max_answer_words' | 'talk_ratio'>;

function turnsWithin(limit: number, view: CallView): Finding {
  const detail = `The call had ${count(view.turns, 'turn')}; the limit is ${limit}`;
  const finding = { met: view.turns <= limit, detail, evidence: [] };
  return failedBy(finding, view.wholeAnswers[limit]?.parts[0]?.index);
}

function answerWordsWithin(limit: number, view: CallView): Finding {
  const answers = view.said('agent').map((answer) => ({ answer, words: countWords(answer.text) }));
  const tooLong = answers.filter(({ words }) => words > limit);
  const [first] = tooLong;
  const longest = answers.reduce((most, { words }) => Math.max(most, words), 0);
  const detail = `The longest answer had ${count(longest, 'word')}; the limit is ${limit}`;
  if (!first) return { met: true, detail, evidence: [] };
  const evidence = tooLong.slice(0, 5).map(({ answer }) => wordsAt(answer.parts[0]!));
  return failedBy({ met: false, detail, evidence }, first.answer.parts.at(-1)!.index);
}

function talkRatioWithin({ min = 0, max = 1 }: Omit<TalkRatioSpec, 'type'>, view: CallView): Finding {
  const [agent, caller] = [wordsOf(view, 'agent'), wordsOf(view, 'caller')];
  if (agent + caller === 0) return { met: false, detail: 'Nothing was said', evidence: [] };
  const ratio = agent / (agent + caller);
  const limits = min === 0 ? `the limit is ${max}` : `the limits are ${min} and ${max}`;
  const detail = `The agent said ${agent} of ${agent + caller} words, ${Math.round(ratio * 1000) / 1000}; ${limits}`;
  return { met: ratio >= min && ratio <= max, detail, evidence: [] };
}
