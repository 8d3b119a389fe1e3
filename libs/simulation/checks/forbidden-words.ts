import type { Speaker } from '../../evaluation-definition/index.js';
import { MAX_SEARCH_LENGTH } from '../matching/matching.js';
import { partAt } from '../timeline/call-view.js';
import { failedBy, type Finding } from './check-result.js';
import { type EventFinder, NotKnown } from './occurrences.js';

/** An e-mail address in a text; recognisers write spaces beside the sign. */
export const EMAIL = /[\p{L}\d._%+-]{1,64} ?@ ?[\p{L}\d-]{1,63}(?:\.[\p{L}\d-]{1,63}){1,5}/gu;

/** Something that a check forbids, at a position in a text. */
export interface Forbidden {
  readonly at: number;
  /** As results show it. */
  readonly quote: string;
  /** With the quote, as part of a sentence. */
  readonly text: string;
}

const MAX_FINDINGS = 5;

/**
 * Whether one side says nothing of what a check forbids.
 * @param search finds it in the words of an utterance: whole, since a pause may divide a number or an address
 * @param none says that there is nothing, as a sentence without full stop
 * @throws NotKnown if nothing is found and not all words were searched
 */
export async function saysNone(
  speaker: Speaker,
  { view, yieldToEventLoop }: EventFinder,
  search: (text: string) => readonly Forbidden[],
  none: string,
): Promise<Finding> {
  const said = view.said(speaker);
  const found: (Forbidden & { readonly entry: number })[] = [];
  for (const utterance of said) {
    await yieldToEventLoop();
    for (const each of search(utterance.text.slice(0, MAX_SEARCH_LENGTH)))
      found.push({ ...each, entry: partAt(utterance, each.at).part.index });
  }
  const [first] = found;
  if (!first && said.some(({ text }) => text.length > MAX_SEARCH_LENGTH))
    throw new NotKnown(`Only the first ${MAX_SEARCH_LENGTH} characters of a turn are searched`);
  if (!first) return { met: true, detail: none, evidence: [] };
  const shown = found.slice(0, MAX_FINDINGS);
  const more = found.length > MAX_FINDINGS ? ` and ${found.length - MAX_FINDINGS} more` : '';
  const detail = `The ${speaker} said ${shown.map(({ text }) => text).join(', ')}${more}`;
  const evidence = shown.map(({ entry, quote }) => ({ entry, quote }));
  const finding = { met: false, detail, evidence };
  // What the caller says is not decided against the agent.
  return speaker === 'agent' ? failedBy(finding, first.entry) : finding;
}
