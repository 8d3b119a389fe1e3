import { TRANSFER_TOOLS, type TransfersSpec } from '../../evaluation-definition/index.js';
import { capital } from '../../text/index.js';
import type { TimelineEntry } from '../timeline/timeline.js';
import { truncate } from '../timeline/text.js';
import { toolCallText } from '../timeline/tool-call-text.js';
import { compareValues, type Sameness } from '../values/same-value.js';
import { type Finding, undecided } from './check-result.js';
import { never } from './happens.js';
import type { Leaves } from './kind.js';
import { argumentsOf, type EventFinder, isAfter, type Occurrence } from './occurrences.js';

export const TRANSFERS = {
  transfers: { evaluate: transfersWithin, couldChange: ({ after }, { met }) => after !== undefined && met !== true },
} satisfies Pick<Leaves, TransfersSpec['type']>;

async function transfersWithin({ to, after, as = [] }: TransfersSpec, finder: EventFinder): Promise<Finding> {
  const { view } = finder;
  const start = after && (await finder.first(after));
  if (after && !start) return { met: false, detail: `${never(after)}, so nothing came after it`, evidence: [] };
  const tools: ReadonlySet<string> = new Set([...TRANSFER_TOOLS, ...as]);
  const where = start ? ` after ${start.text}` : '';
  let open: Occurrence | undefined;
  const others: Occurrence[] = [];
  for (const [index, entry] of view.entries.entries()) {
    if (!view.counts({ index }) || !isTransfer(entry, tools)) continue;
    const transfer = occurrenceOf(entry, index);
    if (start && !isAfter(transfer, start)) continue;
    const found = to === undefined ? 'same' : goesTo(to, entry);
    if (found === 'same')
      return { met: true, detail: capital(`${transfer.text}${where}`), evidence: [transfer.evidence] };
    if (found === 'unknown') open ??= transfer;
    else others.push(transfer);
  }
  const target = to === undefined ? '' : ` to ${truncate(to, 120)}`;
  if (open) return undecided(`${capital(open.text)}${where}; whether that is${target} is not known`, [open.evidence]);
  const instead =
    others.length === 0
      ? ''
      : `, but ${others
          .slice(0, 5)
          .map(({ text }) => text)
          .join(', ')}`;
  const evidence = others.slice(0, 5).map((each) => each.evidence);
  // A backend may transfer by the platform's own API, such as calls.update of Twilio, of which the stream shows nothing.
  if (others.length === 0 && view.unknownTools != null)
    return undecided(`Whether the agent transferred the call${target}${where} is not known. ${view.unknownTools}`);
  return { met: false, detail: `The agent did not transfer the call${target}${where}${instead}`, evidence };
}

type Transfer = Extract<TimelineEntry, { type: 'platform' | 'tool_call' }>;

const isTransfer = (entry: TimelineEntry, tools: ReadonlySet<string>): entry is Transfer =>
  entry.type === 'tool_call' ? tools.has(entry.name) : entry.type === 'platform' && entry.event === 'transfer';

function occurrenceOf(entry: Transfer, index: number): Occurrence {
  const quote = entry.type === 'tool_call' ? toolCallText(entry) : entry.detail;
  const to = quote === '' ? '' : ` to ${truncate(quote, 120)}`;
  const text = entry.type === 'tool_call' ? `the agent called ${quote}` : `the agent transferred the call${to}`;
  return { position: 0, evidence: { entry: index, quote }, text };
}

/** Whether a transfer goes to a target. @throws NotKnown if the platform does not tell the arguments of its tool */
function goesTo(to: string, entry: Transfer): Sameness {
  const targets = entry.type === 'tool_call' ? textsIn(argumentsOf(entry)) : [entry.detail].filter(Boolean);
  const found = targets.map((target) => compareTargets(to, target));
  if (found.includes('same')) return 'same';
  // Where the target stands in the tool's own settings, its arguments name none.
  const isNamed =
    entry.type === 'platform' ? targets.length > 0 : targets.some((target) => isNumber(target) === isNumber(to));
  return found.includes('unknown') || !isNamed ? 'unknown' : 'different';
}

function compareTargets(to: string, target: string): Sameness {
  const [wanted, given] = [withoutScheme(to), withoutScheme(target)];
  if (wanted.toLowerCase() === given.toLowerCase()) return 'same';
  if (isNumber(wanted) !== isNumber(given)) return 'different';
  return compareValues(digits(wanted), digits(given), 'name');
}

/** `tel:+15550142` and `sip:+15550142@trunk.example` are the number. */
const withoutScheme = (target: string): string =>
  target
    .trim()
    .replace(/^(?:tel|sips?):/i, '')
    .replace(/^(\+?[\d ().-]+)[@;].*$/s, '$1');

const isNumber = (text: string): boolean => /^(?:\+|00)?[\d\s().\/-]{3,}$/.test(withoutScheme(text));

const digits = (text: string): string => (isNumber(text) ? text.replace(/[^\d+]/g, '').replace(/^00/, '+') : text);

/** At most as many as a call of a tool may usefully have. */
const MAX_TEXTS = 100;

function textsIn(value: unknown): string[] {
  if (typeof value === 'string' || typeof value === 'number') return [String(value)];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(textsIn).slice(0, MAX_TEXTS);
}
