import { caseName, clipped } from '../text/index.js';
import { type Paint, styleOf } from './colour.js';
import type { CallEvent, RunEvent } from './follow.js';
import type { RunDetails } from './service.js';
import { countsLine } from './summary.js';
import { plain } from './text.js';

/** Shows the progress of a run. */
export interface Progress {
  show(event: RunEvent): void;
  /** Called after the last event. */
  end(): void;
}

export interface ProgressStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

/** A bar on a terminal, lines in a log. */
export function progressOf(run: RunDetails, stream: ProgressStream, paint: Paint, env: NodeJS.ProcessEnv): Progress {
  return stream.isTTY && env['TERM'] !== 'dumb' ? new Bar(run, stream, paint) : new Lines(run, stream);
}

const DRAW_MS = 100;
const BAR_WIDTH = 24;
const ERASE_LINE = '\r\u001B[2K';

/** A progress bar on one line. */
class Bar implements Progress {
  private readonly began = performance.now();
  private drawn = '';
  private readonly timer: NodeJS.Timeout;

  constructor(
    private run: RunDetails,
    private readonly stream: ProgressStream,
    private readonly paint: Paint,
  ) {
    // Independent of events: hundreds of calls may end within a second, and the elapsed time advances without any.
    this.timer = setInterval(() => this.draw(), DRAW_MS);
    this.draw();
  }

  show(event: RunEvent): void {
    if (event.type === 'run') this.run = event.run;
    if (event.type === 'note') {
      this.stream.write(`${ERASE_LINE}${plain(event.text)}\n`);
      this.drawn = '';
    }
  }

  end(): void {
    clearInterval(this.timer);
    this.stream.write(ERASE_LINE);
  }

  private draw(): void {
    const line = this.line();
    if (line === this.drawn) return;
    this.drawn = line;
    this.stream.write(ERASE_LINE + line);
  }

  private line(): string {
    const { counts, totalCalls } = this.run;
    const ended = totalCalls - counts.pending;
    const filled = totalCalls === 0 ? 0 : Math.floor((ended / totalCalls) * BAR_WIDTH);
    const bar = '█'.repeat(filled) + '░'.repeat(BAR_WIDTH - filled);
    const tail = [`${ended}/${totalCalls}`, ...partsOf(this.run), elapsed(this.began)].join('  ');
    // A line that wraps cannot be erased.
    const room = (this.stream.columns ?? 80) - BAR_WIDTH - 2;
    const text = clipped(tail, Math.max(8, room));
    return `${bar} ${text.replace(/\d+ (passed|failed|invalid|error)/g, (part, outcome: string) => this.paint(styleOf(outcome), part))}`;
  }
}

const partsOf = ({ counts }: RunDetails): string[] =>
  (['passed', 'failed', 'invalid', 'error'] as const)
    .filter((outcome) => counts[outcome] > 0)
    .map((outcome) => `${counts[outcome]} ${outcome}`);

/** `0:07`, `1:02:03`. */
function elapsed(since: number): string {
  const seconds = Math.floor((performance.now() - since) / 1000);
  const [h, m, s] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  const padded = (value: number) => String(value).padStart(2, '0');
  return h > 0 ? `${h}:${padded(m)}:${padded(s)}` : `${m}:${padded(s)}`;
}

/** Runs with more calls are logged as occasional counts instead of a line per call. */
const MAX_LINES = 200;
const BETWEEN_COUNTS_MS = 5_000;
/** Maximum time without output, so that the job does not look stuck. */
const QUIET_MS = 30_000;

/** One line for each call that has ended; for large runs, counts. */
class Lines implements Progress {
  private readonly began = performance.now();
  private readonly ended = new Set<string>();
  private readonly timer: NodeJS.Timeout;
  private wroteAt = performance.now();
  private counts = '';

  constructor(
    private run: RunDetails,
    private readonly stream: ProgressStream,
  ) {
    this.timer = setInterval(() => {
      if (performance.now() - this.wroteAt > QUIET_MS) this.writeCounts();
    }, 1_000);
  }

  show(event: RunEvent): void {
    if (event.type === 'note') return this.write(plain(event.text));
    if (event.type === 'call') return this.showCall(event.call);
    this.run = event.run;
    const counts = countsLine(event.run);
    // Every call has a line, unless there are too many or events are not available.
    const isLogged = this.ended.size >= event.run.totalCalls - event.run.counts.pending;
    if (counts === this.counts || (isLogged && event.run.totalCalls <= MAX_LINES)) return;
    if (performance.now() - this.wroteAt > BETWEEN_COUNTS_MS) this.writeCounts();
  }

  end(): void {
    clearInterval(this.timer);
  }

  private showCall({ id, status, outcome, repetition, reason, score, ...of }: CallEvent): void {
    if (status !== 'ENDED' || this.ended.has(id)) return;
    this.ended.add(id);
    const { totalCalls, repeat } = this.run;
    if (totalCalls > MAX_LINES) return;
    const which = repeat > 1 ? ` (${repetition} of ${repeat})` : '';
    const why = outcome === 'passed' ? `score ${score ?? '–'}` : plain(reason ?? '', 200);
    const position = `${String(this.ended.size).padStart(String(totalCalls).length)}/${totalCalls}`;
    this.write(
      `${position}  ${(outcome ?? '').padEnd(7)}  ${plain(caseName(of.evaluationName, of.variables, of.caseKey), 240)}${which}: ${why}`,
    );
  }

  private writeCounts(): void {
    this.counts = countsLine(this.run);
    this.write(`${this.counts}; ${elapsed(this.began)} so far`);
  }

  private write(line: string): void {
    this.wroteAt = performance.now();
    this.stream.write(`${line}\n`);
  }
}
