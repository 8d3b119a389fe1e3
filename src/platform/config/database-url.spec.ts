import { Client } from 'pg';
import { databaseUrlWarnings } from './database-url.js';
import { readSettings } from './settings.js';

const read = (url: string) => readSettings({ DATABASE_URL: url }).databaseUrl ?? '';

/** What the driver makes of an address. */
const connection = (url: string) => {
  const { host, port, user, database, password, ssl } = new Client(read(url));
  return { host, port, user, database, password, ssl };
};

describe('DATABASE_URL', () => {
  it.each([
    // The libpq manual; crystal-pg#227, Zondax/namadexer#150, iceddev/pg-connection-string#14
    ['postgresql://u:p@/db?host=/run/postgresql', { host: '/run/postgresql', user: 'u', password: 'p' }],
    ['postgresql://u:p@:5433/db?host=/run/postgresql', { host: '/run/postgresql', port: 5433 }],
    ['postgresql:///db?host=%2Frun%2Fpostgresql&user=u', { host: '/run/postgresql', user: 'u' }],
    // karlseguin/pg.zig#97, madeofpendletonwool/PinePods#920
    ['postgresql://u:p@%2Frun%2Fpostgresql:5433/db', { host: '/run/postgresql', port: 5433 }],
    ['postgresql://u:p@localhost/db?host=/run/postgresql', { host: '/run/postgresql' }],
    ['postgresql://u:p@:5433/db', { host: 'localhost', port: 5433 }],
    ['postgresql:///db?user=u', { host: 'localhost', user: 'u' }],
    ['postgres://u@[::1]:5433/db', { host: '::1', port: 5433 }],
    // eduardolat/pgbackweb#3, hanami/model#402: libpq wants %40, and the last @ is the one before the host
    ['postgresql://u:p@ss:w0rd@h/db', { host: 'h', password: 'p@ss:w0rd' }],
    // rust-postgres/rust-postgres#113
    ['postgresql://u:p{w}[x]^|@h/db', { host: 'h', password: 'p{w}[x]^|' }],
    ['postgresql://u:%23%25%2F%3F%40%C3%BC@h/db', { host: 'h', password: '#%/?@ü' }],
    // Azure's user names, in a parameter
    ['postgresql://h/db?user=me@tenant&password=a/b', { host: 'h', user: 'me@tenant', password: 'a/b' }],
    ['postgresql://h:5432/db@x?user=u', { host: 'h', database: 'db@x' }],
    // Neon, Heroku and Prisma
    ['postgres://u:p@h/db?sslmode=require&channel_binding=require&pgbouncer=true', { host: 'h', ssl: {} }],
    // libpq 16
    ['postgres://u:p@h/db?sslrootcert=system', { host: 'h', ssl: {} }],
    ['postgres://u:p@h/db?ssl=false', { host: 'h', ssl: false }],
    ['postgres://u:p@h/db?sslmode=no-verify', { host: 'h', ssl: { rejectUnauthorized: false } }],
    ['postgres://u:p@h/db?uselibpqcompat=true&sslmode=require', { host: 'h', ssl: { rejectUnauthorized: false } }],
  ])('connects as %s says', (url, expected) => {
    expect(connection(url)).toMatchObject({ database: 'db', ...expected });
  });

  it.each([
    // readysettech/readyset#392, langfuse/langfuse#13314
    ['postgresql://u:p#w@h/db', 'has a #: write # as %23 in user names and passwords'],
    ['postgresql://u:12#x@h/db', 'has a #: write # as %23 in user names and passwords'],
    // amacneil/dbmate#143, sosedoff/pgweb#96, ankane/pghero#280
    ['postgresql://u:100%@h/db', 'has a % that begins no code: write % as %25 in user names and passwords'],
    ['postgresql://u:%yaron11@h/db', 'has a % that begins no code: write % as %25 in user names and passwords'],
    // brianc/node-postgres decodes one of both otherwise
    ['postgresql://u:%3F%@h/db', 'has a % that begins no code: write % as %25 in user names and passwords'],
    ['postgresql://u:%FC@h/db', 'has a code that is not UTF-8: write ü as %C3%BC, for instance, not as %FC'],
    // MaterializeInc/materialize#36266
    [
      'postgresql://u:a/b@h/db',
      'has a / or ? before its host: write / as %2F and ? as %3F in user names and passwords',
    ],
    [
      'postgresql://u:12/b@h/db',
      'has a / or ? before its host: write / as %2F and ? as %3F in user names and passwords',
    ],
    [
      'postgresql://u:12?b@h/db',
      'has a / or ? before its host: write / as %2F and ? as %3F in user names and passwords',
    ],
    ['postgresql://u:a?b@h', 'has a / or ? before its host: write / as %2F and ? as %3F in user names and passwords'],
    // timgit/pg-boss#447, prisma/orm#13493, brianc/node-pg-native#96
    ['postgresql://u:p@a:1,b:2/db?target_session_attrs=read-write', 'names several hosts: name the one that accepts'],
    ['postgresql://u:p@a,b/db', 'names several hosts: name the one that accepts'],
    ['postgresql://u:p@/db?host=a,b', 'names several hosts: name the one that accepts'],
    [
      'postgresql://u:p@::1/db',
      'has no valid host and port: write them as host:5432, and an IPv6 address as [::1]:5432',
    ],
    ['postgresql://u:p@h:54x/db', 'has no valid host and port: write them as host:5432, and an IPv6 address as [::1]'],
    [
      'postgresql://u:p@h:99999/db',
      'has no valid host and port: write them as host:5432, and an IPv6 address as [::1]',
    ],
    [
      'postgresql://u:p@h/db?sslmode=REQUIRED',
      'has another sslmode than disable, no-verify, prefer, require, verify-ca',
    ],
    // docker/compose and .env files: quotes that the reader keeps
    ['"postgresql://u:p@h/db"', 'must be an address that begins with postgresql:// or postgres://, without quotes'],
    // dokku/dokku-postgres#127, GoodAI/charlie-mnemonic#14
    ['jdbc:postgresql://h/db', 'must be an address that begins with postgresql:// or postgres://'],
    ['postgresql+asyncpg://u:p@h/db', 'must be an address that begins with postgresql:// or postgres://'],
    ['host=h dbname=db', 'must be an address that begins with postgresql:// or postgres://'],
  ])('is refused with what is wrong: %s', (url, fault) => {
    expect(() => read(url)).toThrow(`DATABASE_URL ${fault}`);
  });

  it('never shows the password', () => {
    for (const password of ['hunter2#', 'hunter2%', 'hunter2/', 'hunter2?', 'hunter2,']) {
      expect(() => read(`postgresql://u:${password}@a,b/db`)).toThrow(/^(?!.*hunter2)DATABASE_URL (has|names) /);
    }
  });

  // Eight lines on standard error, brianc/node-postgres#2558
  it.each(['prefer', 'require', 'verify-ca', 'verify-full'])(
    'causes no warning of the driver with sslmode=%s, which checks certificate and name',
    (mode) => {
      const emitWarning = jest.spyOn(process, 'emitWarning').mockReturnValue(undefined);
      const { ssl } = connection(`postgresql://u:p@h/db?sslmode=${mode}`);
      const warnings = emitWarning.mock.calls;
      emitWarning.mockRestore();
      expect([warnings, ssl]).toEqual([[], {}]);
    },
  );

  // Prisma, JDBC, and drivers of Go
  it.each(['schema', 'currentSchema', 'search_path'])('says that %s has no effect, and what names a schema', (name) => {
    expect(databaseUrlWarnings(read(`postgresql://u:p@h/db?${name}=vat`))).toEqual([
      `${name} in DATABASE_URL has no effect; options=-c%20search_path=NAME there names the schema of the tables`,
    ]);
    expect(databaseUrlWarnings(read('postgresql://u:p@/db?options=-c%20search_path=vat'))).toEqual([]);
  });
});

// getsentry/self-hosted#1566, hepengju/redis-me#68
it.each([
  ['redis://:hunter2#b@cache', 'has a #: write # as %23 in user names and passwords'],
  ['redis://u:12#hunter2@cache', 'has a #: write # as %23 in user names and passwords'],
  ['redis://:hunter2%b@cache', 'has a % that begins no code: write % as %25 in user names and passwords'],
  [
    'rediss://:hunter2/b@cache:6379',
    'has a / or ? before its host: write / as %2F and ? as %3F in user names and passwords',
  ],
  ['redis://:hunter2@cache:port', 'has no valid host and port: write them as host:6379'],
])('REDIS_URL is refused with what is wrong, without its password: %s', (url, fault) => {
  expect(() => readSettings({ REDIS_URL: url })).toThrow(`REDIS_URL ${fault}`);
  expect(() => readSettings({ REDIS_URL: url })).toThrow(/^(?!.*hunter2)/);
});
