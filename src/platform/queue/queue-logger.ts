import { Logger } from '@nestjs/common';
import { Logger as GraphileLogger } from 'graphile-worker';

const NOTEWORTHY: ReadonlySet<string> = new Set(['error', 'warning']);

/**
 * Writes graphile-worker's messages to the service's log, without their metadata, which contains whole jobs. At debug
 * level, because errors of handlers and of the database are logged where they are handled.
 */
export const queueLogger = new GraphileLogger(() => {
  const logger = new Logger('Queue');
  return (level, message) => {
    if (NOTEWORTHY.has(level)) logger.debug(message);
    else logger.verbose(message);
  };
});
