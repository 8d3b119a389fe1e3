import type { LanguageSpec } from '../../evaluation-definition/index.js';
import type { Utterance } from '../timeline/call-view.js';
import { languageDetector, nameOfLanguage as nameOf } from '../matching/spoken-language.js';
import { truncate } from '../timeline/text.js';
import { failedBy, type Finding, undecided, wordsAt } from './check-result.js';
import { never } from './happens.js';
import type { Leaves } from './kind.js';
import { type EventFinder, isAfter, type Occurrence } from './occurrences.js';

/** Letters of one answer that suffice to say that it is in another language, and of all answers to recognise theirs. */
const ENOUGH_OF_ONE = 40;
const ENOUGH_OF_ALL = 20;

export const LANGUAGE = {
  language: {
    evaluate: speaksLanguage,
    couldChange: ({ before }, { settledBy }) => settledBy === undefined || before !== undefined,
  },
} satisfies Pick<Leaves, LanguageSpec['type']>;

/** Whether the agent speaks a language. Undecided when it says too little to be recognised. */
async function speaksLanguage(spec: LanguageSpec, finder: EventFinder): Promise<Finding> {
  const { language, after, before } = spec;
  const wanted = language.toLowerCase().split('-')[0]!;
  const { detect } = await languageDetector();
  const [start, end] = [after && (await finder.first(after)), before && (await finder.first(before))];
  const missing = after && !start ? after : before && !end ? before : undefined;
  if (missing) return { met: false, detail: never(missing), evidence: [] };
  const answers = finder.view.said('agent').filter((answer) => isBetween(answer, start, end));
  for (const { text, parts } of answers) {
    const found = letters(text) >= ENOUGH_OF_ONE ? detect(text) : undefined;
    if (found === undefined || found === wanted) continue;
    const said = wordsAt(parts[0]!);
    const detail = `The agent answered in ${nameOf(found)}, not in ${nameOf(wanted)}: "${truncate(said.quote, 120)}"`;
    return failedBy({ met: false, detail, evidence: [said] }, parts.at(-1)!.index);
  }
  const all = answers.map(({ text }) => text).join(' ');
  const found = letters(all) >= ENOUGH_OF_ALL ? detect(all) : undefined;
  const evidence = answers.slice(0, 1).map(({ parts }) => wordsAt(parts[0]!));
  if (found === undefined) return undecided('The agent said too little to tell its language', evidence);
  const not = found === wanted ? '' : `, not in ${nameOf(wanted)}`;
  return { met: found === wanted, detail: `The agent answered in ${nameOf(found)}${not}`, evidence };
}

/** Whether an answer is after one event and before another one. */
function isBetween({ text, parts }: Utterance, after: Occurrence | undefined, before: Occurrence | undefined): boolean {
  const said = {
    position: 0,
    evidence: { entry: parts[0]!.index, quote: '' },
    text: `the agent said "${truncate(text, 120)}"`,
  };
  return (!after || isAfter(said, after)) && (!before || isAfter(before, said));
}

const letters = (text: string): number => text.match(/\p{L}/gu)?.length ?? 0;
