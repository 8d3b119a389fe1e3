import {
  type Check,
  type NestedCheck,
  TRANSFER_TOOLS,
  type TransfersSpec,
  withNested,
} from '../../evaluation-definition/index.js';
import { capital } from '../../text/index.js';
import type { CallView } from '../timeline/call-view.js';
import type { TimelineEntry } from '../timeline/timeline.js';
import { truncate } from '../timeline/text.js';
import { toolCallText } from '../timeline/tool-call-text.js';
import { compareValues, type Sameness } from '../values/same-value.js';
import { type CheckResult, type Finding, undecided } from './check-result.js';
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
  const where = start ? ` after ${start.text}` : '';
  let open: Occurrence | undefined;
  const others: Occurrence[] = [];
  for (const { entry, ...transfer } of transfersIn(view, as)) {
    if (start && !isAfter(transfer, start)) continue;
    const found = to === undefined ? 'same' : goesTo(to, entry);
    if (found === 'same')
      return { met: true, detail: capital(`${transfer.text}${where}`), evidence: [transfer.evidence] };
    if (found === 'unknown') open ??= transfer;
    else others.push(transfer);
  }
  const target = to === undefined ? '' : ` to ${truncate(to, 120)}`;
  if (open) return undecided(`${capital(open.text)}${where}; whether that is${target} is not known`, [open.evidence]);
  if (others.length === 0 && view.unknownTools != null)
    return undecided(notSeen(`${target}${where}`, view.unknownTools));
  const first = others.slice(0, 5);
  const instead = first.length === 0 ? '' : `, but ${first.map(({ text }) => text).join(', ')}`;
  const evidence = first.map((each) => each.evidence);
  return { met: false, detail: `The agent did not transfer the call${target}${where}${instead}`, evidence };
}

/** A backend may transfer by the platform's own API, such as calls.update of Twilio, of which the stream shows nothing. */
export const notSeen = (what: string, unknownTools: string): string =>
  `Whether the agent transferred the call${what} is not known. ${unknownTools}`;

type TransferEntry = Extract<TimelineEntry, { type: 'platform' | 'tool_call' }>;

export interface Transfer extends Occurrence {
  readonly entry: TransferEntry;
}

/** All transfers that count. @param as names of further tools that transfer the call */
export function transfersIn(view: CallView, as: readonly string[] = []): Transfer[] {
  const tools: ReadonlySet<string> = new Set([...TRANSFER_TOOLS, ...as]);
  return view.entries.flatMap((entry, index) =>
    view.counts({ index }) && isTransfer(entry, tools) ? [transferOf(entry, index)] : [],
  );
}

const isTransfer = (entry: TimelineEntry, tools: ReadonlySet<string>): entry is TransferEntry =>
  entry.type === 'tool_call' ? tools.has(entry.name) : entry.type === 'platform' && entry.event === 'transfer';

function transferOf(entry: TransferEntry, index: number): Transfer {
  const quote = entry.type === 'tool_call' ? toolCallText(entry) : entry.detail;
  const to = quote === '' ? '' : ` to ${truncate(quote, 120)}`;
  const text = entry.type === 'tool_call' ? `the agent called ${quote}` : `the agent transferred the call${to}`;
  return { entry, position: 0, evidence: { entry: index, quote }, text };
}

/**
 * Whether an agent that no longer answers may have passed the call on, where a required check is about that: some do so without
 * a word, as VapiAI/docs#311 advises.
 */
export function mayHaveLeft(checks: readonly Check[], results: readonly CheckResult[], view: CallView): boolean {
  const found = results.filter(({ index, required }) => required && checks[index] && isAboutTransfers(checks[index]));
  if (found.length === 0) return false;
  const tools = checks
    .flatMap((check) => withNested(check))
    .flatMap(({ check }) => ('as' in check ? (check.as ?? []) : []));
  const last = transfersIn(view, tools).at(-1);
  const hasLeft = last && view.said('agent').every(({ turn }) => turn <= last.entry.turn);
  return hasLeft || found.some(({ met }) => met === null);
}

const isAboutTransfers = (outermost: Check): boolean =>
  withNested(outermost).some(({ check }) => check.type === 'transfers' || wantsTransfer(check));

const wantsTransfer = (check: NestedCheck): boolean =>
  check.type === 'hears_keys' && check.then !== undefined && 'transfer' in check.then;

/** Whether a transfer goes to a target. @throws NotKnown if the platform does not tell the arguments of its tool */
export function goesTo(to: string, entry: TransferEntry): Sameness {
  const targets = entry.type === 'tool_call' ? textsIn(argumentsOf(entry)) : dialled(entry.detail);
  const found = targets.map((target) => compareTargets(to, target));
  if (found.includes('same')) return 'same';
  // Where the target stands in the tool's own settings, its arguments name none.
  const isNamed =
    entry.type === 'platform' ? targets.length > 0 : targets.some((target) => isNumber(target) === isNumber(to));
  return found.includes('unknown') || !isNamed ? 'unknown' : 'different';
}

/** The target, or those that ring at the same time. */
const dialled = (detail: string): string[] => [detail, ...detail.split(', ')].filter(Boolean);

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
