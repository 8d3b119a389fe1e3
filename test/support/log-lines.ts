import type { DestinationStream } from 'pino';

/** Captures the log of a service under test. */
export class LogLines implements DestinationStream {
  text = '';

  write(line: string): void {
    this.text += line;
  }

  /** The parsed lines written so far. */
  get lines(): Record<string, any>[] {
    return this.text
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Record<string, any>);
  }
}
