import { callDetails } from './call.js';
import { failuresSection } from './failures.js';
import { html, type Html } from './html.js';
import { latencySection } from './latency.js';
import { comparisonSection } from './comparison.js';
import { matrixSection } from './matrix.js';
import { banner, chances, countsSection, evaluationTable, stability } from './overview.js';
import { badge, passRate } from './parts.js';
import type { CallReader, ReportedCall, ReportedRun } from './reported.js';
import { META_CSP, STYLE } from './style.js';
import { count, number, title } from '../text/index.js';
import { outcomeFilter } from './filter.js';
import { PLAYER_SCRIPT, type ReportedAudio, AudioBudget, type AudioReader } from './voice/index.js';
import { TranscriptBudget } from './transcript-budget.js';
import { anchors, verdictOf } from './labels.js';
import { evaluationState, type Outcome } from '../statistics/index.js';

/** Number of calls per evaluation and outcome that are expanded, of those that did not pass; others usually repeat them. */
const OPEN_PER_OUTCOME = 3;
const NEED_ATTENTION: readonly unknown[] = ['failed', 'error', 'invalid'] satisfies Outcome[];

/**
 * Renders a run as a self-contained HTML page without requests, and without scripts unless it has audio. Must be served with
 * `REPORT_CSP`. Yields parts and keeps only one call in memory.
 * @param calls is called for the calls that did not pass, and then for all calls
 * @param readAudio reads what was recorded; without it the page has no audio and no waveforms
 * @throws what `calls` and `readAudio` throw, and Error for a call of an evaluation that the run does not have
 */
export async function* renderReport(
  run: ReportedRun,
  calls: CallReader,
  readAudio?: AudioReader,
): AsyncGenerator<string, void, undefined> {
  yield `<!doctype html>\n<html lang="en">`;
  yield head(run).toString();
  yield '<body>';
  yield banner(run).toString();
  yield '<main>';
  yield html`${await failuresSection(run, calls)}${countsSection(run)}${comparisonSection(run.comparison)}`.toString();
  yield matrixSection(run.matrix).toString();
  yield html`${evaluationTable(run)}${latencySection(run)}`.toString();
  yield '<section class="calls" aria-labelledby="calls"><h2 id="calls">Calls</h2>';
  yield outcomeFilter(run).toString();
  const hasAudio = yield* callSections(run, calls, readAudio);
  yield `</section></main>${hasAudio ? PLAYER_SCRIPT.toString() : ''}</body></html>\n`;
}

function head(run: ReportedRun): Html {
  const { label } = verdictOf(run);
  return html`<head>
    <meta charset="utf-8" />
    <meta http-equiv="Content-Security-Policy" content="${META_CSP}" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <meta name="referrer" content="no-referrer" />
    <title>${label}: ${title(run.name)}</title>
    ${STYLE}
  </head>`;
}

/** @returns whether there is a recording on the page */
async function* callSections(
  run: ReportedRun,
  calls: CallReader,
  readAudio: AudioReader | undefined,
): AsyncGenerator<string, boolean, undefined> {
  const positions = new Map(run.evaluations.map(({ caseKey }, position) => [caseKey, position]));
  const budget = new TranscriptBudget();
  const audioBudget = new AudioBudget();
  let hasAudio = false;
  let current: number | undefined;
  const opened = new Map<Outcome | null, number>();
  for await (const call of calls({})) {
    const position = positions.get(call.caseKey);
    if (position === undefined) throw new Error(`Call ${call.id} does not belong to any evaluation of run ${run.id}`);
    if (position !== current) {
      if (current !== undefined) yield '</section>';
      yield `<section class="evaluation" aria-labelledby="${anchors.evaluation(position)}">`;
      yield evaluationHead(run, position).toString();
      current = position;
      opened.clear();
    }
    const isWhole = budget.takes(call);
    const open = opened.get(call.outcome) ?? 0;
    const isOpen = isWhole && NEED_ATTENTION.includes(call.outcome) && open < OPEN_PER_OUTCOME;
    if (isOpen) opened.set(call.outcome, open + 1);
    const isAttemptWhole = () => budget.takesAttempt();
    const { language, total } = run.evaluations[position]!;
    const { repeat } = run;
    const audio = isWhole ? await audioOf(call, audioBudget, readAudio) : undefined;
    hasAudio ||= audio?.wav !== undefined;
    const shown = { position, repeat, total, isOpen, isWhole, isAttemptWhole, language, audio, elsewhere: run };
    yield callDetails(readAudio && !audio ? withoutRecording(call) : call, shown).toString();
  }
  if (current !== undefined) yield '</section>';
  if (budget.leftOut > 0) yield leftOut(budget.leftOut).toString();
  return hasAudio;
}

/** It was deleted after the call. */
const withoutRecording = (call: ReportedCall): ReportedCall =>
  call.voice ? { ...call, voice: { ...call.voice, recording: null } } : call;

async function audioOf(
  { id, outcome, voice }: ReportedCall,
  budget: AudioBudget,
  readAudio: AudioReader | undefined,
): Promise<ReportedAudio | undefined> {
  if (!voice?.recording || !readAudio) return undefined;
  return readAudio(id, { wav: budget.takes(outcome, voice.recording.bytes) });
}

const leftOut = (calls: number): Html =>
  html`<p class="note">
    The transcripts of ${count(calls, 'call')} are omitted from this page; read them with <code>GET /calls/{id}</code>.
  </p>`;

function evaluationHead(run: ReportedRun, position: number): Html {
  const evaluation = run.evaluations[position]!;
  const { name, score, counted, language } = evaluation;
  return html`<header>
    <h3 id="${anchors.evaluation(position)}"><bdi>${title(name)}</bdi></h3>
    ${badge(evaluationState(evaluation, run))} ${score !== null && html`<span>score ${number(score)}</span>`}
    ${counted > 1 && html`${stability(evaluation)} ${passRate(evaluation)}`} ${chances(evaluation)}
    ${language !== null && html`<small>Language <code>${language}</code></small>`}
  </header>`;
}
