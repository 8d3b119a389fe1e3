import { count } from '../text/index.js';
import { CommandError, EXIT, misuse } from './errors.js';
import type { ImportResult, RunPlan, Service, StartRunRequest, SuitePlan } from './service.js';
import { cureLines, evaluationIds, misfitLines, sendSuite, type SuiteFile } from './suite-commands.js';

/** What a run of a suite would do, of which nothing is stored yet. */
export interface PlannedSuite {
  /** What the import would do. */
  readonly changes: ImportResult;
  /** The selected evaluations of the file. */
  readonly chosen: SuitePlan['evaluations'];
  readonly warnings: readonly string[];
  /** The plan of the selected evaluations of the agent that are not in the file; undefined without any. */
  readonly others: RunPlan | undefined;
}

/**
 * Asks the service what it would do with a suite, and writes nothing.
 * @param options of the run; its tags select evaluations
 * @param evaluation ids and keys that select evaluations; neither: all of the file
 * @throws CommandError that names every fault of the file, or every selected evaluation that the agent cannot be tested with
 */
export async function planSuite(
  service: Service,
  agentId: string,
  suite: SuiteFile,
  { tags, medium }: Pick<StartRunRequest, 'tags' | 'medium'>,
  evaluation: readonly string[] | undefined,
): Promise<PlannedSuite> {
  const changes = await sendSuite(service, agentId, suite, { dryRun: true, ...(medium && { medium }) });
  const { plan, items } = changes;
  if (plan === undefined) throw misuse('The service is older than this command', 'Run the client that it serves.');
  const isChosen = ({ key, tags: own }: SuitePlan['evaluations'][number], index: number): boolean => {
    if (evaluation) return evaluation.includes(key) || evaluation.includes(items[index]?.id ?? key);
    return tags === undefined || own.some((tag) => tags.includes(tag));
  };
  const isIncluded = plan.evaluations.map(isChosen);
  const chosen = plan.evaluations.filter((_, index) => isIncluded[index]);
  const unfit = plan.misfits.filter(({ index }) => isIncluded[index]);
  if (unfit.length > 0) {
    throw new CommandError(
      EXIT.misused,
      `${suite.file} was not imported: ${count(unfit.length, 'evaluation')} of it cannot be run`,
      [...misfitLines(unfit), ...cureLines(unfit)],
      'Resolve the above, or select other evaluations with --evaluation or --tag; nothing was imported.',
    );
  }
  const ids = await otherIds(service, agentId, changes, tags, evaluation);
  if (chosen.length + ids.length === 0) {
    throw misuse(
      tags
        ? `No evaluation has the ${tags.length === 1 ? 'tag' : 'tags'} ${tags.join(', ')}`
        : 'The suite contains no evaluations',
      'Nothing was imported.',
    );
  }
  const others =
    ids.length > 0 ? await service.plan(agentId, { evaluationIds: ids, ...(medium && { medium }) }) : undefined;
  return { changes, chosen, warnings: plan.warnings, others };
}

/** Ids of the selected evaluations of the agent that are not in the file. @throws CommandError for an unknown key */
async function otherIds(
  service: Service,
  agentId: string,
  { items }: ImportResult,
  tags: readonly string[] | undefined,
  evaluation: readonly string[] | undefined,
): Promise<string[]> {
  const inFile = new Set(items.flatMap(({ key, id }) => [key, ...(id === null ? [] : [id])]));
  if (evaluation) {
    const rest = evaluation.filter((value) => !inFile.has(value));
    return rest.length > 0 ? evaluationIds(service, agentId, rest) : [];
  }
  if (!tags) return [];
  const known = await service.evaluations(agentId);
  return known.flatMap(({ id, tags: own }) => (!inFile.has(id) && own.some((tag) => tags.includes(tag)) ? [id] : []));
}
