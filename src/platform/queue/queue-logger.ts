import { Logger } from '@nestjs/common';
import { Logger as GraphileLogger } from 'graphile-worker';

const NOTEWORTHY: ReadonlySet<string> = new Set(['error', 'warning']);

/**
 * graphile-worker's messages among the program's own. Only its text: the metadata holds whole jobs. What fails in a
 * handler is logged where it is called, and failures of the database where they are met.
 */
export const queueLogger = new GraphileLogger(() => {
  const logger = new Logger('Queue');
  return (level, message) => {
    if (NOTEWORTHY.has(level)) logger.debug(message);
    else logger.verbose(message);
  };
});
