import type { DestinationStream } from 'pino';

/** Keeps the log of a test's service. */
export class LogLines implements DestinationStream {
  text = '';

  write(line: string): void {
    this.text += line;
  }

  /** The lines so far, parsed. */
  get lines(): Record<string, any>[] {
    return this.text
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Record<string, any>);
  }
}
