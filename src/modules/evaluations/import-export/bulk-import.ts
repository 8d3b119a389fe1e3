import type { ImportAction } from '../dto/import.response.js';

/** Rows that one statement writes. */
export interface Batch {
  /** Their ids; null for those that the statement leaves out. */
  readonly ids: readonly (string | null)[];
}

/** The statements of a table that files are imported to. */
export interface ImportTable<B extends Batch> {
  /** Ids of rows that are stored with different content. */
  changed(batch: B): Promise<string[]>;
  insert(batch: B): Promise<void>;
  update(batch: B): Promise<void>;
}

/** What an import does with an item. */
export interface Planned {
  readonly id: string;
  readonly action: ImportAction;
}

/** Decides for each row whether it is created, updated or left unchanged. @param existing ids of the stored rows */
export async function planImport<B extends Batch>(
  table: Pick<ImportTable<B>, 'changed'>,
  batches: readonly B[],
  existing: ReadonlySet<string>,
): Promise<Planned[]> {
  const changed = new Set<string>();
  for (const batch of restrictedTo(batches, existing)) {
    for (const id of await table.changed(batch)) changed.add(id);
  }
  const actionOf = (id: string): ImportAction => {
    if (!existing.has(id)) return 'created';
    return changed.has(id) ? 'updated' : 'unchanged';
  };
  return batches.flatMap(({ ids }) => ids.flatMap((id) => (id === null ? [] : { id, action: actionOf(id) })));
}

/** Writes the rows that are new or differ. */
export async function writeImport<B extends Batch>(
  table: ImportTable<B>,
  batches: readonly B[],
  plan: readonly Planned[],
): Promise<void> {
  const idsOf = (wanted: ImportAction) => new Set(plan.flatMap(({ id, action }) => (action === wanted ? id : [])));
  // Updates first: they may wait for locks, and inserted rows should not be locked while waiting.
  for (const batch of restrictedTo(batches, idsOf('updated'))) await table.update(batch);
  for (const batch of restrictedTo(batches, idsOf('created'))) await table.insert(batch);
}

/** The batches that hold some of the wanted rows, with null instead of the other ids. */
function* restrictedTo<B extends Batch>(batches: readonly B[], wanted: ReadonlySet<string>): Generator<B> {
  for (const batch of batches) {
    const ids = batch.ids.map((id) => (id !== null && wanted.has(id) ? id : null));
    if (ids.some((id) => id !== null)) yield { ...batch, ids };
  }
}

/** How many items an import created, updated and left unchanged. */
export function counted(plan: readonly { readonly action: ImportAction }[]): Record<ImportAction, number> {
  const count = (wanted: ImportAction) => plan.filter(({ action }) => action === wanted).length;
  return { created: count('created'), updated: count('updated'), unchanged: count('unchanged') };
}
