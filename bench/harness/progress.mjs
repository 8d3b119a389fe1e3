/** How often a line is written where there is no terminal, milliseconds. */
const LINE_MS = 10_000;
const WIDTH = 24;

/** A bar with the time that is left, on standard error. */
export class Progress {
  constructor(expectedMs) {
    this.began = Date.now();
    this.expectedMs = expectedMs;
    this.doneMs = 0;
    this.lastLine = 0;
  }

  /** @param ms how much of the expected time is over with this step */
  step(ms, what) {
    this.doneMs += ms;
    const share = Math.min(1, this.doneMs / this.expectedMs);
    const elapsed = Date.now() - this.began;
    // The plan at first, what really happened later.
    const left = share > 0.2 ? (elapsed / share) * (1 - share) : this.expectedMs - this.doneMs;
    const filled = Math.round(share * WIDTH);
    const bar = `[${'#'.repeat(filled)}${'.'.repeat(WIDTH - filled)}] ${clock(left)} left  ${what}`;
    if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${bar}`);
    else if (Date.now() - this.lastLine >= LINE_MS) {
      this.lastLine = Date.now();
      process.stderr.write(`${bar}\n`);
    }
  }

  end() {
    if (process.stderr.isTTY) process.stderr.write('\r\x1b[K');
  }
}

const clock = (ms) => {
  const seconds = Math.max(0, Math.round(ms / 1000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
};
