const SIGNALS = ['SIGINT', 'SIGTERM'] as const;
const NUMBERS = { SIGINT: 2, SIGTERM: 15 } as const;
const PARENT_MS = 500;

/** Ends the wait for a run early: on a signal, after a time-out, or when the parent process ends. */
export class Interruption {
  private readonly controller = new AbortController();
  private readonly timers: NodeJS.Timeout[] = [];
  private why = '';

  /** @param timeoutSeconds maximum wait for the run; undefined for no limit */
  constructor(timeoutSeconds: number | undefined, env: NodeJS.ProcessEnv) {
    for (const name of SIGNALS) process.on(name, this.onSignal);
    if (timeoutSeconds !== undefined) {
      this.timers.push(setTimeout(() => this.stop(`Not ended after ${timeoutSeconds} s`), timeoutSeconds * 1000));
    }
    // npx starts commands in a shell, which exits on SIGTERM without forwarding it.
    if (env['npm_command'] !== undefined) this.watchParent(process.ppid);
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** For display: `Stopped by SIGINT`. */
  get reason(): string {
    return this.why;
  }

  release(): void {
    for (const timer of this.timers) clearInterval(timer);
    for (const name of SIGNALS) process.off(name, this.onSignal);
  }

  private watchParent(parent: number): void {
    const check = () => {
      if (process.ppid !== parent) this.stop('Stopped with npx');
    };
    this.timers.push(setInterval(check, PARENT_MS));
  }

  private stop(why: string): void {
    this.why ||= why;
    this.controller.abort();
  }

  private readonly onSignal = (name: (typeof SIGNALS)[number]): void => {
    // A second signal does not wait for the service.
    if (this.signal.aborted) process.exit(128 + NUMBERS[name]);
    this.stop(`Stopped by ${name}`);
  };
}
