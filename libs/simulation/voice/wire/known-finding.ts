import type { FindingSeverity, WireFinding } from '../facts/facts.js';

/** A deviation from a platform's protocol that a wire can find. */
export interface KnownFinding {
  /** `error`: the caller hears something else than the agent meant, or the platform ignores the message; `warning`: the rest. */
  readonly severity: FindingSeverity;
  /** What it means, for the guide. */
  readonly meaning: string;
  /** What the platform's documentation says, with the number and level of its own error where there is one. */
  readonly source: string;
}

export type KnownFindings = Readonly<Record<string, KnownFinding>>;

/** Makes findings of a table, without their time. Their detail says what happened, without secrets. */
export const findingsOf =
  <Table extends KnownFindings>(table: Table) =>
  (code: keyof Table & string, detail: string): Omit<WireFinding, 'atMs'> => {
    const { severity, source } = table[code]!;
    return { code, severity, detail, source };
  };
