import type { EndsBySpec, TalkRatioSpec } from '../../evaluation-definition/index.js';
import type { CallView, Utterance } from '../timeline/call-view.js';
import { countWords, wordsOf } from '../measures/measures.js';
import { truncate } from '../timeline/text.js';
import { saysGoodbye } from '../validity/phrases.js';
import { count, failedBy, type Finding, undecided } from './check-result.js';
import { decide, time, timeFinding } from './times.js';

export function endsBy({ by, code, withinMs }: EndsBySpec, view: CallView): Finding {
  const { end } = view;
  const who = end?.by === 'tester' ? 'neither side' : `the ${end?.by}`;
  const evidence = end ? [{ entry: view.entries.indexOf(end), quote: truncate(end.reason, 240) }] : [];
  const detail = `The call was ended by ${who}${code === undefined ? '' : ` (${end?.code})`}`;
  if (end?.code === 'connection_closed' && by === 'agent')
    return undecided(`${detail}, whose connection was closed without a hang-up`, evidence);
  const isSide = end?.by === by && (code === undefined || end.code === code);
  if (!isSide || withinMs === undefined) return { met: isSide, detail, evidence };
  const goodbye = view.utterances.find(({ text }) => saysGoodbye(text));
  const last = goodbye?.parts.at(-1);
  if (!last) return { met: false, detail: `${detail}, without a goodbye`, evidence };
  const ms = Math.max(0, Math.round(end.start - last.entry.end));
  const measured = { ms, plusMinusMs: view.stallWithin(last.entry.end, end.start, last.entry.speaker) };
  const after = `${time(measured)} after the ${last.entry.speaker} said "${truncate(last.entry.text, 120)}"`;
  const said = { entry: last.index, quote: truncate(last.entry.text, 240) };
  return timeFinding(decide(withinMs, measured), `${detail} ${after}; the limit is ${withinMs}`, [said, ...evidence]);
}

export function turnsWithin(limit: number, view: CallView): Finding {
  const detail = `The call had ${count(view.turns, 'turn')}; the limit is ${limit}`;
  const finding = { met: view.turns <= limit, detail, evidence: [] };
  return failedBy(finding, view.wholeAnswers[limit]?.parts[0]?.index);
}

export function answerWordsWithin(limit: number, view: CallView): Finding {
  const answers = view.said('agent').map((answer) => ({ answer, words: countWords(answer.text) }));
  const tooLong = answers.filter(({ words }) => words > limit);
  const [first] = tooLong;
  const longest = answers.reduce((most, { words }) => Math.max(most, words), 0);
  const detail = `The longest answer had ${count(longest, 'word')}; the limit is ${limit}`;
  if (!first) return { met: true, detail, evidence: [] };
  const evidence = tooLong.slice(0, 5).map(({ answer }) => quoteOf(answer));
  return failedBy({ met: false, detail, evidence }, first.answer.parts.at(-1)!.index);
}

const quoteOf = ({ parts }: Utterance) => ({ entry: parts[0]!.index, quote: truncate(parts[0]!.entry.text, 240) });

export function talkRatioWithin({ min = 0, max = 1 }: TalkRatioSpec, view: CallView): Finding {
  const [agent, caller] = [wordsOf(view, 'agent'), wordsOf(view, 'caller')];
  if (agent + caller === 0) return { met: false, detail: 'Nothing was said', evidence: [] };
  const ratio = agent / (agent + caller);
  const limits = min === 0 ? `the limit is ${max}` : `the limits are ${min} and ${max}`;
  const detail = `The agent said ${agent} of ${agent + caller} words, ${Math.round(ratio * 1000) / 1000}; ${limits}`;
  return { met: ratio >= min && ratio <= max, detail, evidence: [] };
}
