import type { CaseLook, CaseLooks, Measure } from '../../../libs/statistics/index.js';
import type { AlarmEntity } from './alarm.entity.js';
import type { LookEntry, LookHead } from './alarms.repository.js';

/** A case that is missing in as many looks in a row has left the suite; fewer can be a night with other cases. */
const LOOKS_WITHOUT = 5;

/** The results of a schedule's cases at its newest looks, as far as they can be compared. */
export class LookHistory {
  readonly looks: readonly LookHead[];
  /** When the newest version of the agent was first seen, if another one was before and looks before it do not count. */
  readonly versionSince: Date | undefined;
  private readonly cases = new Map<string, Map<string, LookEntry[]>>();
  private readonly newest = new Map<string, LookEntry>();

  /** @param looks the oldest first @param entries in the order of their looks */
  constructor(
    looks: readonly LookHead[],
    entries: readonly LookEntry[],
    private readonly alarms: readonly AlarmEntity[],
    resetOnVersion: boolean,
  ) {
    this.looks = resetOnVersion ? ofNewestVersion(looks) : looks;
    this.versionSince = this.looks.length < looks.length ? this.looks[0]?.endedAt : undefined;
    for (const entry of entries) {
      this.newest.set(entry.caseKey, entry);
      const byLook = this.cases.get(entry.caseKey) ?? new Map<string, LookEntry[]>();
      this.cases.set(entry.caseKey, byLook.set(entry.lookId, [...(byLook.get(entry.lookId) ?? []), entry]));
    }
  }

  /** The name of a case and its hash, as they are now. */
  newestOf(caseKey: string): Pick<LookEntry, 'name' | 'hash'> {
    const { name = caseKey, hash = '' } = this.newest.get(caseKey) ?? {};
    return { name, hash };
  }

  /** What is compared: not what belongs to a fall that is over, nor what came before the normal that a user accepted. */
  compared(): CaseLooks[] {
    return [...this.cases.keys()].map((caseKey) => ({
      caseKey,
      looks: this.looks.map((look) => {
        const found = this.at(caseKey, look);
        if (!found) return null;
        const isLeftOut = (measure: Measure) =>
          this.alarms.some((alarm) => leavesOut(alarm, { measure, caseKey, look }));
        return {
          ...(isLeftOut('passed') ? { counted: 0, passed: 0 } : found),
          latencies: isLeftOut('slow') ? [] : found.latencies,
        };
      }),
    }));
  }

  /** The looks after an alarm, of those of its cases that are still the same. */
  after({ cases, foundAt }: AlarmEntity): { readonly looks: readonly LookHead[]; readonly cases: CaseLooks[] } {
    const looks = this.looks.filter(({ endedAt }) => endedAt > foundAt);
    const same = cases.filter(({ caseKey, hash }) => this.newestOf(caseKey).hash === hash);
    return {
      looks,
      cases: same.map(({ caseKey }) => ({ caseKey, looks: looks.map((look) => this.at(caseKey, look)) })),
    };
  }

  /** The first look after an alarm since which none has any of its cases; undefined until there are enough of them. */
  leftAt({ cases, foundAt }: AlarmEntity): Date | undefined {
    const has = ({ id }: LookHead) => cases.some(({ caseKey }) => this.cases.get(caseKey)?.has(id));
    const first = this.looks.findLastIndex((look) => look.endedAt <= foundAt || has(look)) + 1;
    return this.looks.length - first < LOOKS_WITHOUT ? undefined : this.looks[first]!.endedAt;
  }

  /** Position of the first look from this time on. */
  positionOf(time: Date): number {
    const position = this.looks.findIndex(({ endedAt }) => endedAt >= time);
    return position === -1 ? this.looks.length : position;
  }

  /** Whether one of its cases is still the same: else it can neither end by itself nor be continued by later looks. */
  isComparable({ cases }: AlarmEntity): boolean {
    return cases.some(({ caseKey, hash }) => this.newestOf(caseKey).hash === hash);
  }

  /** Only results with the newest definition and tester can be compared with the newest ones. */
  private at(caseKey: string, { id }: LookHead): CaseLook | null {
    const { hash } = this.newestOf(caseKey);
    const same = (this.cases.get(caseKey)?.get(id) ?? []).filter((entry) => entry.hash === hash);
    if (same.length === 0) return null;
    return {
      counted: same.reduce((sum, { counted }) => sum + counted, 0),
      passed: same.reduce((sum, { passed }) => sum + passed, 0),
      latencies: same.flatMap(({ latencies }) => latencies),
    };
  }
}

function leavesOut(
  alarm: AlarmEntity,
  { measure, caseKey, look }: { readonly measure: Measure; readonly caseKey: string; readonly look: LookHead },
): boolean {
  if (alarm.measure !== measure || (alarm.caseKey !== null && alarm.caseKey !== caseKey)) return false;
  if (alarm.status === 'accepted') return look.endedAt < alarm.since;
  return alarm.overFrom !== null && look.endedAt >= alarm.since && look.endedAt < alarm.overFrom;
}

/** The looks since the agent has its newest version; looks without a version belong to the one before. */
function ofNewestVersion(looks: readonly LookHead[]): readonly LookHead[] {
  const newest = versionOf(looks);
  if (newest === null) return looks;
  const last = looks.findLastIndex(({ agentVersion }) => agentVersion !== null && agentVersion !== newest);
  const next = looks.findIndex(({ agentVersion }, at) => at > last && agentVersion === newest);
  return last === -1 ? looks : looks.slice(next);
}

/** The newest version of the agent that is known; null if none is. */
const versionOf = (looks: readonly LookHead[]): string | null =>
  looks.findLast(({ agentVersion }) => agentVersion !== null)?.agentVersion ?? null;
