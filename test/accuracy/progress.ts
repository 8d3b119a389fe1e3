const WIDTH = 40;

/** Progress of a number of steps: a bar on a terminal, otherwise a line per quarter. */
export class Progress {
  private done = 0;

  constructor(
    private readonly title: string,
    private readonly total: number,
    private readonly out: NodeJS.WriteStream = process.stderr,
  ) {}

  advance(): void {
    this.done++;
    const steps = this.out.isTTY ? WIDTH : 4;
    const step = (done: number) => Math.floor((done * steps) / this.total);
    if (step(this.done) === step(this.done - 1)) return;
    const text = `${this.title} ${this.done}/${this.total}`;
    if (this.out.isTTY) this.out.write(`\r[${'#'.repeat(step(this.done)).padEnd(WIDTH)}] ${text}`);
    else this.out.write(`${text}\n`);
  }

  /** Ends the line of the bar. */
  end(): void {
    if (this.out.isTTY) this.out.write('\n');
  }
}
