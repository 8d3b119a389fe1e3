import { createRequire } from 'node:module';
import type { LoggerService } from '@nestjs/common';
import { type DestinationStream, type Logger, pino } from 'pino';
import type { Settings } from '../config/settings.js';

/** Field names of credentials; their values are redacted from every log line. */
const SECRET_NAMES = ['apiKey', 'webhookSecret', 'authorization', 'cookie', 'password', 'secret', 'key'];
const REDACTED = SECRET_NAMES.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]);

/**
 * The process's logger.
 * @param destination standard output by default; tests pass their own
 */
export function createLogger(
  { logLevel, logFormat }: Pick<Settings, 'logLevel' | 'logFormat'>,
  destination?: DestinationStream,
): Logger {
  const options = {
    level: logLevel,
    redact: { paths: REDACTED, censor: '[redacted]' },
    serializers: { err: (error: unknown) => (error instanceof Error ? loggedError(error) : error) },
    base: null,
  };
  return pino(options, destination ?? (logFormat === 'pretty' ? prettyOutput() : pino.destination(1)));
}

/** Loaded on demand: a service that logs JSON does not need it. */
function prettyOutput(): DestinationStream {
  const pretty = createRequire(import.meta.url)('pino-pretty') as typeof import('pino-pretty');
  return pretty({ ignore: 'hostname,pid', translateTime: 'SYS:HH:MM:ss.l', sync: true });
}

interface LoggedError {
  type: string;
  message: string;
  stack: string | undefined;
  code?: unknown;
  cause?: LoggedError;
}

/**
 * The logged fields of an error. No others: the database driver's errors carry the parameters of the statement, which can
 * be prompts and credentials.
 */
export function loggedError(error: Error, depth = 0): LoggedError {
  const { code } = error as { code?: unknown };
  return {
    type: error.constructor.name,
    message: error.message,
    stack: error.stack,
    ...(code !== undefined && { code }),
    ...(error.cause instanceof Error && depth < 5 && { cause: loggedError(error.cause, depth + 1) }),
  };
}

/** Parts of Nest that log every module and route at start. */
const CHATTY = new Set(['NestFactory', 'InstanceLoader', 'RoutesResolver', 'RouterExplorer', 'NestApplication']);

/** Sends Nest's own messages to the same logger. */
export class NestLogger implements LoggerService {
  constructor(private readonly logger: Logger) {}

  log(message: unknown, ...rest: unknown[]): void {
    this.write(CHATTY.has(String(rest.at(-1))) ? 'debug' : 'info', message, rest);
  }
  error(message: unknown, ...rest: unknown[]): void {
    this.write('error', message, rest);
  }
  warn(message: unknown, ...rest: unknown[]): void {
    this.write('warn', message, rest);
  }
  debug(message: unknown, ...rest: unknown[]): void {
    this.write('debug', message, rest);
  }
  verbose(message: unknown, ...rest: unknown[]): void {
    this.write('trace', message, rest);
  }

  private write(level: 'info' | 'error' | 'warn' | 'debug' | 'trace', message: unknown, rest: unknown[]): void {
    // Nest passes the context last, after the stack of an error.
    const context = rest.at(-1);
    const fields = {
      ...(typeof context === 'string' && { context }),
      ...(message instanceof Error && { err: message }),
    };
    this.logger[level](fields, message instanceof Error ? message.message : String(message));
  }
}
