import type { HearsKeysSpec } from '../../../evaluation-definition/index.js';
import { capital } from '../../../text/index.js';
import type { Finding } from '../../checks/check-result.js';
import { type EventFinder, known, NotKnown } from '../../checks/occurrences.js';
import { goesTo, notSeen, type Transfer, transfersIn } from '../../checks/transfers.js';
import type { CallerAct, PressAct, Span } from '../facts/facts.js';
import { at, notExercised } from './finding.js';
import type { Sounds, VoiceEvidence } from './kind.js';

export const KEYS = {
  hears_keys: { evaluate: hearsKeys, couldChange: (_, { met }) => met === false },
} satisfies Pick<Sounds, HearsKeysSpec['type']>;

/** The agent acts after the last key and before the caller acts again. */
async function hearsKeys(spec: HearsKeysSpec, evidence: VoiceEvidence, finder: EventFinder): Promise<Finding> {
  const { entries } = finder.view;
  const { facts } = evidence;
  const press = facts.caller.find(
    (act): act is PressAct => act.type === 'press' && act.keys.replaceAll('w', '') === spec.keys,
  );
  if (!press) return notExercised(`The caller never pressed ${spec.keys}`);
  const reaction = await reactionTo(spec, reactionTime(press, evidence), evidence, finder);
  const wasCutOff = reaction === undefined && press.endMs >= facts.end.atMs && facts.end.by !== 'agent';
  if (wasCutOff) return notExercised(`The call ended while the caller pressed ${spec.keys}`);
  const where = at(entries, (entry) => entry.type === 'sound' && entry.kind === 'keys', press.startMs);
  return reaction === undefined
    ? { met: false, detail: `The agent did nothing of what was expected after the keys ${spec.keys}`, evidence: where }
    : { met: true, detail: `After the keys ${spec.keys} ${reaction}`, evidence: where };
}

/** From the last key to the caller's next act; sounds during the agent's speech leave it its turn. */
function reactionTime(press: PressAct, { facts }: VoiceEvidence): Span {
  const next = facts.caller.find((act) => act.startMs >= press.endMs && act !== press && !isDuringSpeech(act));
  return { startMs: press.endMs, endMs: next?.startMs ?? Infinity };
}

const isDuringSpeech = (act: CallerAct): boolean => 'afterMs' in act && act.afterMs !== null;

/** What the agent did, as a clause; undefined if nothing fits. @throws NotKnown */
async function reactionTo(
  { then }: HearsKeysSpec,
  span: Span,
  { facts }: VoiceEvidence,
  finder: EventFinder,
): Promise<string | undefined> {
  const { view } = finder;
  const isWithin = (ms: number) => ms >= span.startMs && ms < span.endMs;
  if (!then || 'transfer' in then) {
    const transfers = transfersIn(view).filter(({ entry }) => isWithin(entry.start));
    const to = then?.transfer ?? true;
    // Words of a target are enough, such as the end of its number.
    const compared = ({ entry, evidence }: Transfer) =>
      to === true || evidence.quote.includes(to) ? 'same' : goesTo(to, entry);
    const transfer = transfers.find((each) => compared(each) === 'same');
    if (transfer) return transfer.text;
    if (!then) return facts.agent.some(({ startMs }) => isWithin(startMs)) ? 'the agent answered' : undefined;
    const open = transfers.find((each) => compared(each) === 'unknown');
    if (open) throw new NotKnown(`${capital(open.text)}; whether that is to ${to} is not known`);
    if (transfers.length === 0 && view.unknownTools != null) throw new NotKnown(notSeen('', view.unknownTools));
    return undefined;
  }
  for await (const occurrence of finder.occurrences(then)) {
    const { evidence, text } = known(occurrence);
    if (isWithin(view.entries[evidence.entry]!.start)) return text;
  }
  return undefined;
}
