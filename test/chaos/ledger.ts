/** What a client can change and read back. */
export type Kind =
  'agents' | 'personalities' | 'evaluations' | 'runs' | 'api-keys' | 'provider-keys' | 'webhooks' | 'workspace';

/** One thing that a client was told it has made, and what the client knows of it. */
export interface Entry {
  readonly kind: Kind;
  readonly id: string;
  /** Whose it is: index of the workspace. */
  readonly workspace: number;
  /** Text that no other request has ever sent: by it, what was written twice is found. */
  readonly marker: string;
  /** Values that it may have: one, unless a change was never answered. */
  values: readonly string[];
  state: 'there' | 'gone' | 'unsure';
  /** Where a list of the API shows it, for what has no address of its own. */
  readonly list?: string;
  /** Of a run: its cancelling was acknowledged. */
  cancelled?: boolean;
}

/** What is compared of an entry, as the API shows it. */
export const shownValue = (kind: Kind, data: any): string => (kind === 'webhooks' ? data.url : data.name);

/** An answer that no operation should give. */
export interface Fault {
  readonly operation: string;
  readonly status: number;
  readonly text: string;
  /** What went on at that moment. */
  readonly during: string;
  readonly requestId: string;
}

/** All that the clients were told, kept outside of the service and its database. */
export class Ledger {
  readonly entries: Entry[] = [];
  readonly faults: Fault[] = [];
  /** Markers of POSTs that were never answered for good. */
  readonly unanswered = new Set<string>();
  /** Writes that were acknowledged. */
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
