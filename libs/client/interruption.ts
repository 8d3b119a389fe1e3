/** Why a command stops before its run has ended. */
export class Interruption {
  private readonly controller = new AbortController();
  private readonly timer: NodeJS.Timeout | undefined;
  private why = '';

  /** @param timeoutSeconds after which the run counts as too slow */
  constructor(timeoutSeconds?: number) {
    for (const name of SIGNALS) process.on(name, this.onSignal);
    if (timeoutSeconds === undefined) return;
    this.timer = setTimeout(() => this.stop(`Not ended after ${timeoutSeconds} s`), timeoutSeconds * 1000);
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** For the reader: `Stopped by SIGINT`. */
  get reason(): string {
    return this.why;
  }

  release(): void {
    clearTimeout(this.timer);
    for (const name of SIGNALS) process.off(name, this.onSignal);
  }

  private stop(why: string): void {
    this.why ||= why;
    this.controller.abort();
  }

  private readonly onSignal = (name: (typeof SIGNALS)[number]): void => {
    // Who asks twice does not want to wait for the service.
    if (this.signal.aborted) process.exit(128 + NUMBERS[name]);
    this.stop(`Stopped by ${name}`);
  };
}

const NUMBERS = { SIGINT: 2, SIGTERM: 15 } as const;
const SIGNALS = ['SIGINT', 'SIGTERM'] as const;
