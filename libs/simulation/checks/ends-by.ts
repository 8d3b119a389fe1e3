import type { EndsBySpec } from '../../evaluation-definition/index.js';
import type { CallView } from '../timeline/call-view.js';
import { firstUnknown } from '../timeline/known-words.js';
import { truncate } from '../timeline/text.js';
import { saysGoodbye } from '../matching/phrases.js';
import { type Finding, undecided, wordsAt } from './check-result.js';
import type { Leaves } from './kind.js';
import { decide, time, timeFinding } from './times.js';

export const ENDS_BY = {
  ends_by: {
    evaluate: (check, { view }) => endsBy(check, view),
    // The first goodbye counts.
    couldChange: ({ withinMs: _, ...side }, { evidence }, { view }) =>
      endsBy(side, view).met === true && !(evidence.length > 1 && evidence[0]!.entry < firstUnknown(view)),
  },
} satisfies Pick<Leaves, EndsBySpec['type']>;

function endsBy({ by, code, withinMs }: EndsBySpec, view: CallView): Finding {
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
  return timeFinding(decide(withinMs, measured), `${detail} ${after}; the limit is ${withinMs}`, [
    wordsAt(last),
    ...evidence,
  ]);
}
