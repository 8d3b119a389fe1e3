import { painter } from './colour.js';
import { readConfiguration } from './configuration.js';
import { buildNote, type OwnPackage } from './own-package.js';
import type { ProgressStream } from './progress.js';
import { Service } from './service.js';
import type { Look } from './table.js';
import { plain, printable } from './text.js';

/** Streams and environment of the process. Results go to standard output, everything else to standard error. */
export interface Io {
  readonly env: NodeJS.ProcessEnv;
  readonly stdout: ProgressStream;
  readonly stderr: ProgressStream;
  /** Writes a file to standard output, unchanged. */
  readonly writeFile: (text: string) => void;
  readonly own: OwnPackage;
  /** Asks a question whose answer is yes or no; absent if nobody can answer. */
  readonly confirm?: (question: string) => Promise<boolean>;
}

/** A stream that writes whole lines, as `printable` makes them. */
export const printing = (stream: ProgressStream): ProgressStream => ({
  get isTTY() {
    return stream.isTTY;
  },
  get columns() {
    return stream.columns;
  },
  write: (text) => stream.write(printable(text)),
});

export interface ServiceFlags {
  readonly url?: string;
}

/** A client for the configured service. Notes that the client is another build than the service has. */
export async function connect({ url }: ServiceFlags, { env, stderr, own }: Io): Promise<Service> {
  const configuration = await readConfiguration(url, env);
  const announce = (text: string) => void stderr.write(`${plain(text, 1000)}\n`);
  const note = await buildNote(configuration, own);
  if (note !== undefined) announce(note);
  return new Service({ ...configuration, announce });
}

/** Width of the table in a log, in columns. */
const LOG_WIDTH = 160;

export const lookOf = ({ stdout, env }: Io): Look => ({
  paint: painter(stdout, env),
  width: stdout.columns ?? LOG_WIDTH,
});
