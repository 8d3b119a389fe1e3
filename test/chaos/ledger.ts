/** Kinds of resources that a client can change and read back. */
export type Kind =
  | 'agents'
  | 'personalities'
  | 'evaluations'
  | 'runs'
  | 'schedules'
  | 'api-keys'
  | 'provider-keys'
  | 'webhooks'
  | 'workspace';

/** A resource whose creation was acknowledged, and its expected state. */
export interface Entry {
  readonly kind: Kind;
  readonly id: string;
  /** Index of the workspace. */
  readonly workspace: number;
  /** Text sent by no other request, so that duplicate writes can be found. */
  readonly marker: string;
  /** Possible values: one, unless a change had no response. */
  values: readonly string[];
  state: 'there' | 'gone' | 'unsure';
  /** Path of the list that contains it, for resources without a path of their own. */
  readonly list?: string;
  /** The cancellation of the run was acknowledged. */
  cancelled?: boolean;
}

/** The compared value of an entry, as returned by the API. */
export const shownValue = (kind: Kind, data: any): string => (kind === 'webhooks' ? data.url : data.name);

/** An unexpected response. */
export interface Fault {
  readonly operation: string;
  readonly status: number;
  readonly text: string;
  /** The fault at that time. */
  readonly during: string;
  readonly requestId: string;
}

/** All acknowledged writes, recorded independently of the service and its database. */
export class Ledger {
  readonly entries: Entry[] = [];
  readonly faults: Fault[] = [];
  /** Markers of POSTs without a final response. */
  readonly unanswered = new Set<string>();
  /** Number of acknowledged writes. */
  acknowledged = 0;
  replayed = 0;
  readonly outcomes = new Map<string, number>();
  readonly succeeded = new Set<string>();

  add(entry: Omit<Entry, 'values' | 'state'> & { value?: string }): Entry {
    const { value = entry.marker, ...rest } = entry;
    const added: Entry = { ...rest, values: [value], state: 'there' };
    this.entries.push(added);
    return added;
  }

  count(outcome: string): void {
    this.outcomes.set(outcome, (this.outcomes.get(outcome) ?? 0) + 1);
  }
}
