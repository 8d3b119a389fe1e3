import { createLogger, loggedError, NestLogger } from './logger.js';

const record = (logLevel = 'trace') => {
  const lines: Record<string, unknown>[] = [];
  const destination = { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) };
  return { lines, logger: createLogger({ logLevel, logFormat: 'json' }, destination) };
};

describe('the logger', () => {
  it.each(['apiKey', 'webhookSecret', 'authorization', 'cookie', 'password', 'secret', 'key'])(
    'redacts %s, down to the third level',
    (name) => {
      const { lines, logger } = record();
      logger.info({ [name]: 's3cret', a: { [name]: 's3cret', b: { [name]: 's3cret' } } }, 'x');
      expect(lines[0]).toMatchObject({
        [name]: '[redacted]',
        a: { [name]: '[redacted]', b: { [name]: '[redacted]' } },
      });
      expect(JSON.stringify(lines)).not.toContain('s3cret');
    },
  );

  it('omits lines below its level', () => {
    const { lines, logger } = record('warn');
    logger.info('quiet');
    logger.warn('loud');
    expect(lines.map(({ msg }) => msg)).toEqual(['loud']);
  });

  it('omits the fields of a database error that hold values of the statement', () => {
    const { lines, logger } = record();
    const error = Object.assign(new Error('duplicate key'), {
      code: '23505',
      detail: 'Key (name)=(s3cret) already exists.',
      parameters: ['s3cret'],
      query: 'INSERT … s3cret',
    });
    logger.error({ err: new Error('outer', { cause: error }) }, 'failed');
    expect(lines[0]?.['err']).toMatchObject({
      message: 'outer',
      cause: { message: 'duplicate key', code: '23505', stack: expect.any(String) },
    });
    expect(JSON.stringify(lines)).not.toContain('s3cret');
  });

  it('logs at most six causes of an error, even when they are circular', () => {
    const circle = new Error('circle');
    circle.cause = circle;
    let depth = 0;
    for (let each: ReturnType<typeof loggedError> | undefined = loggedError(circle); each; each = each.cause) depth++;
    expect(depth).toBe(6);
  });
});

describe('messages of Nest', () => {
  it('are logged with their level and context', () => {
    const { lines, logger } = record();
    const nest = new NestLogger(logger);
    nest.log('a', 'Context');
    nest.log('mapped', 'RouterExplorer');
    nest.warn('b', 'Context');
    nest.error('c', 'the stack', 'Context');
    nest.debug('d', 'Context');
    nest.verbose('e');
    expect(lines.map(({ level, msg, context }) => [level, msg, context])).toEqual([
      [30, 'a', 'Context'],
      [20, 'mapped', 'RouterExplorer'],
      [40, 'b', 'Context'],
      [50, 'c', 'Context'],
      [20, 'd', 'Context'],
      [10, 'e', undefined],
    ]);
  });

  it('keep the stack of an error', () => {
    const { lines, logger } = record();
    new NestLogger(logger).error(new Error('broken'), 'Context');
    expect(lines[0]).toMatchObject({ msg: 'broken', err: { message: 'broken', stack: expect.any(String) } });
  });
});
