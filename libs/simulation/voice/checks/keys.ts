import type { HearsKeysSpec } from '../../../evaluation-definition/index.js';
import type { Finding } from '../../checks/check-result.js';
import { type EventFinder, known } from '../../checks/occurrences.js';
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

/** What the agent did, as a clause; undefined if nothing fits. */
async function reactionTo(
  { then }: HearsKeysSpec,
  span: Span,
  { facts }: VoiceEvidence,
  finder: EventFinder,
): Promise<string | undefined> {
  const isWithin = (ms: number) => ms >= span.startMs && ms < span.endMs;
  const transfers = facts.platformEvents.filter(({ type, atMs }) => type === 'transfer' && isWithin(atMs));
  const transfer = transfers.find(
    ({ detail }) => !then || !('transfer' in then) || then.transfer === true || detail.includes(then.transfer),
  );
  if (!then) {
    if (transfer) return `the agent transferred the call (${transfer.detail})`;
    return facts.agent.some(({ startMs }) => isWithin(startMs)) ? 'the agent answered' : undefined;
  }
  if ('transfer' in then) return transfer && `the agent transferred the call (${transfer.detail})`;
  for await (const occurrence of finder.occurrences(then)) {
    const { evidence, text } = known(occurrence);
    if (isWithin(finder.view.entries[evidence.entry]!.start)) return text;
  }
  return undefined;
}
