import { painter } from './colour.js';
import { comparisonExitCode, comparisonMarkdown, comparisonText } from './compared.js';
import { CommandError, EXIT, type ExitCode, RefusedError, UnreachableError } from './errors.js';
import { ForeignAnswerError } from './foreign-answer.js';
import { follow, hasEnded } from './follow.js';
import { Interruption } from './interruption.js';
import { connect, type Io, lookOf, type ServiceFlags } from './io.js';
import { matrixExitCode, matrixMarkdown, matrixText } from './matrix.js';
import {
  jsonText,
  type OutputFlags,
  prepareFile,
  prepareOutputs,
  resultContents,
  saveFile,
  writeOutputs,
} from './outputs.js';
import { type Consent, consentTo, requireConsent } from './consent.js';
import { diallingText, planText, resultText, suitePlanText } from './printed.js';
import { progressOf } from './progress.js';
import type { ImportResult, RunDetails, Service, StartRunRequest } from './service.js';
import { changesText, evaluationIds, importSummary, readSuite, sendSuite, sharedChanges } from './suite-commands.js';
import { planSuite } from './suite-run.js';
import { countsLine, exitCodeOf, summarise } from './summary.js';
import type { Look } from './table.js';
import { plain } from './text.js';

export interface FollowFlags extends ServiceFlags, OutputFlags {
  /** Seconds. */
  readonly timeout?: number;
  readonly wait: boolean;
  /** Run to print beside the result, and in the report: an id or `previous`. */
  readonly compareWith?: string;
}

/** What a run covers; neither: all evaluations of the agent, or those of the suite. */
export interface Selection extends Consent {
  /** Ids and keys. */
  readonly evaluation?: readonly string[];
  /** File to import first, if the agent can be tested with what is selected. */
  readonly suite?: string;
}

/** Starts a run and follows it to its end. @throws CommandError */
export async function run(
  agentId: string,
  options: StartRunRequest,
  selection: Selection,
  flags: FollowFlags,
  io: Io,
): Promise<ExitCode> {
  const suite = selection.suite === undefined ? undefined : await readSuite(selection.suite);
  const start = async (service: Service) => {
    // Nothing is imported that the run could not take.
    const planned = suite && (await planSuite(service, agentId, suite, options, selection.evaluation));
    for (const line of planned ? sharedChanges(planned.changes) : []) io.stderr.write(`Note: ${line}\n`);
    const imported = suite && (await sendSuite(service, agentId, suite));
    if (imported) io.stderr.write(`${importSummary(imported)}\n`);
    const request = await selected(service, agentId, options, selection, imported);
    const { warnings, dialling } = await service.plan(agentId, request);
    for (const warning of warnings) io.stderr.write(`Note: ${plain(warning)}\n`);
    for (const line of diallingText(dialling)) io.stderr.write(`${line}\n`);
    if (dialling) await requireConsent(selection, io);
    return service.startRun(agentId, request);
  };
  return startAndFollow(start, flags, io);
}

/** Runs the plan of an earlier run again and follows it. @throws CommandError */
export async function rerun(
  id: string,
  only: 'failed' | undefined,
  flags: FollowFlags & Consent,
  io: Io,
): Promise<ExitCode> {
  const start = async (service: Service) => {
    await consentTo(() => service.planRerun(id, only), flags, io);
    return service.rerun(id, only);
  };
  return startAndFollow(start, flags, io);
}

/** Judges the recorded calls of a run again, in a new run, and follows it. @throws CommandError */
export async function remeasure(id: string, flags: FollowFlags, io: Io): Promise<ExitCode> {
  return startAndFollow((service) => service.derive(id, 'remeasure'), flags, io);
}

/** Judges the criteria of a run again, in a new run, and follows it. @throws CommandError */
export async function rejudge(id: string, flags: FollowFlags, io: Io): Promise<ExitCode> {
  return startAndFollow((service) => service.derive(id, 'rejudge'), flags, io);
}

/** The request with the ids of its evaluations. */
async function selected(
  service: Service,
  agentId: string,
  options: StartRunRequest,
  { evaluation }: Selection,
  imported?: ImportResult,
): Promise<StartRunRequest> {
  if (evaluation) return { ...options, evaluationIds: await evaluationIds(service, agentId, evaluation) };
  if (!imported || options.tags) return options;
  return { ...options, evaluationIds: imported.items.flatMap(({ id }) => id ?? []) };
}

/** Prints the plan of a run, with a suite also what its import would change. @throws CommandError */
export async function plan(
  agentId: string,
  options: StartRunRequest,
  selection: Selection,
  flags: ServiceFlags,
  io: Io,
): Promise<ExitCode> {
  const suite = selection.suite === undefined ? undefined : await readSuite(selection.suite);
  const service = await connect(flags, io);
  if (suite) {
    const planned = await planSuite(service, agentId, suite, options, selection.evaluation);
    io.stdout.write(`${changesText(planned.changes)}\n\n${suitePlanText(planned, options, lookOf(io))}\n`);
    return EXIT.met;
  }
  const request = await selected(service, agentId, options, selection);
  io.stdout.write(`${planText(await service.plan(agentId, request), lookOf(io))}\n`);
  return EXIT.met;
}

/** Prints the results of a run, on request after its end. Never cancels the run. @throws CommandError */
export async function status(id: string, flags: FollowFlags, io: Io): Promise<ExitCode> {
  const service = await connect(flags, io);
  await prepareOutputs(flags);
  await requireBaseline(service, flags);
  let current = await service.run(id);
  if (flags.wait && !hasEnded(current)) {
    const interruption = new Interruption(flags.timeout, io.env);
    const ended = await watch(service, current, interruption, io).finally(() => interruption.release());
    if (ended === undefined) {
      const cure = `Follow it again: vat status ${plain(id)} --wait`;
      throw new CommandError(EXIT.noResult, `${interruption.reason}; the run continues`, [], cure);
    }
    current = ended;
  }
  return conclude(service, current, flags, io);
}

/** Prints a run beside an earlier one, or beside several. @throws CommandError */
export async function compare(
  id: string,
  others: readonly string[],
  { strict, ...flags }: ServiceFlags & Omit<OutputFlags, 'junit'> & { strict?: boolean },
  io: Io,
): Promise<ExitCode> {
  const service = await connect(flags, io);
  await prepareOutputs(flags);
  const { text, exitCode, ...contents } = await comparedRuns(service, id, others, strict).catch((error: unknown) => {
    // One of the runs has not ended yet.
    if (!(error instanceof RefusedError) || error.status !== 409) throw error;
    throw new CommandError(EXIT.noResult, error.message, [], `Wait for it: vat status RUN --wait`, { cause: error });
  });
  io.stdout.write(`${text(lookOf(io))}\n`);
  const report = () => service.report(id, others.join(','));
  const again = `vat compare ${plain([id, ...others].join(' '))}`;
  printWritten(await writeOutputs({ ...contents, report }, flags, io.env, again), io);
  return exitCode;
}

async function comparedRuns(service: Service, id: string, others: readonly string[], strict?: boolean) {
  if (others.length === 1) {
    const comparison = await service.compare(id, others[0]!);
    return {
      text: (look: Look) => comparisonText(comparison, look),
      markdown: () => comparisonMarkdown(comparison),
      json: () => jsonText(comparison),
      exitCode: comparisonExitCode(comparison, strict),
    };
  }
  const matrix = await service.matrix(id, others);
  return {
    text: (look: Look) => matrixText(matrix, look),
    markdown: () => matrixMarkdown(matrix),
    json: () => jsonText(matrix),
    exitCode: matrixExitCode(matrix, strict),
  };
}

/** Saves the report or the JUnit file of a run. @throws CommandError */
export async function save(
  kind: 'report' | 'junit',
  id: string,
  { out, compareWith, ...flags }: ServiceFlags & { out: string; compareWith?: string },
  io: Io,
): Promise<ExitCode> {
  const service = await connect(flags, io);
  await prepareFile(out);
  const text = kind === 'report' ? await service.report(id, compareWith) : await service.junit(id);
  await saveFile(out, text, io);
  return EXIT.met;
}

/** Starts a run and follows it, unless that is not wanted. @throws CommandError */
export async function startAndFollow(
  start: (service: Service) => Promise<RunDetails>,
  flags: FollowFlags,
  io: Io,
): Promise<ExitCode> {
  const service = await connect(flags, io);
  await prepareOutputs(flags);
  await requireBaseline(service, flags);
  const interruption = new Interruption(flags.timeout, io.env);
  try {
    // Not aborted by a signal: a run with an unknown id could not be cancelled.
    const started = await start(service);
    if (!flags.wait) {
      io.stdout.write(`${started.id}\n`);
      return EXIT.met;
    }
    io.stderr.write(`Run ${plain(started.id)} "${plain(started.name, 120)}": ${countsLine(started)}\n`);
    const ended = await watch(service, started, interruption, io);
    return await conclude(service, ended ?? (await cancel(service, started.id, interruption, io)), flags, io);
  } finally {
    interruption.release();
  }
}

/** The ended run; undefined when interrupted. */
async function watch(
  service: Service,
  first: RunDetails,
  interruption: Interruption,
  io: Io,
): Promise<RunDetails | undefined> {
  const progress = progressOf(first, io.stderr, painter(io.stderr, io.env), io.env);
  let last = first;
  const { announce } = service;
  service.announce = (text) => progress.show({ type: 'note', text });
  try {
    for await (const event of follow(service, first.id, { signal: interruption.signal })) {
      progress.show(event);
      if (event.type === 'run') last = event.run;
    }
    return last;
  } catch (error) {
    if (interruption.signal.aborted) return undefined;
    if (!(error instanceof UnreachableError)) throw error;
    const cure = `The run may continue: vat status ${plain(first.id)} --wait`;
    throw new CommandError(EXIT.noResult, error.message, [], cure, { cause: error });
  } finally {
    progress.end();
    service.announce = announce;
  }
}

async function cancel(service: Service, id: string, { reason }: Interruption, io: Io): Promise<RunDetails> {
  io.stderr.write(`${reason}: cancelling the run\n`);
  try {
    return await service.cancel(id);
  } catch (error) {
    // The run has ended.
    if (error instanceof RefusedError && error.status === 409) return service.run(id);
    throw error;
  }
}

/** Prints and writes the results of the run. */
async function conclude(service: Service, ended: RunDetails, flags: FollowFlags, io: Io): Promise<ExitCode> {
  const summary = summarise(ended, await service.calls(ended.id));
  io.stdout.write(`${resultText(summary, lookOf(io), { hasReport: flags.report !== undefined })}\n`);
  const baseline = flags.compareWith;
  const isCompared = baseline !== undefined && (await printComparison(service, ended.id, baseline, io));
  const contents = resultContents(service, summary, isCompared ? baseline : undefined);
  printWritten(await writeOutputs(contents, flags, io.env, `vat status ${plain(ended.id)}`), io);
  return exitCodeOf(ended);
}

/** On standard error, since one of the files may be standard output. */
function printWritten(files: readonly string[], io: Io): void {
  if (files.length > 0) io.stderr.write(`Wrote ${files.map((file) => plain(file)).join(', ')}\n`);
}

/** A run that does not exist is reported before a run, which takes minutes. @throws CommandError */
async function requireBaseline(service: Service, { compareWith }: FollowFlags): Promise<void> {
  if (compareWith !== undefined && compareWith !== 'previous') await service.run(compareWith);
}

/** @returns false, with a note, if the run cannot be compared: its own result is decided by its gate */
async function printComparison(service: Service, id: string, baseline: string, io: Io): Promise<boolean> {
  try {
    io.stdout.write(`\n${comparisonText(await service.compare(id, baseline), lookOf(io))}\n`);
    return true;
  } catch (error) {
    if (!(error instanceof RefusedError || error instanceof ForeignAnswerError)) throw error;
    const why = [error.message, ...error.details].map((text) => plain(text)).join(': ');
    io.stderr.write(`Note: not compared: ${why}\n`);
    return false;
  }
}
