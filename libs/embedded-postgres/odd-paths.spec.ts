import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { binariesIn, locateBinaries } from './binaries.js';
import { openEmbeddedPostgres } from './index.js';
import { cleanUp, FAST, newFolder, query } from './testing/processes.js';

afterEach(cleanUp);

/** Characters that a shell interprets, one folder for each; pg_ctl starts the server with a shell. */
const ODD = [
  'a $HOME b',
  'a"b',
  'a`id`b',
  "a'b",
  'a\\b',
  '$(id)',
  'a;b&c|d',
  '-D',
  '*?[x]',
  '~',
  '#!%',
  'ä € 🙂',
  'tab\tx',
];

// mysticmind/mysticmind-postgresembed#29, juspay/services-flake#533
it.each(ODD)('the embedded PostgreSQL opens, writes and closes in a folder of the name %j', async (name) => {
  const directory = join(newFolder(), name);
  for (const round of [1, 2]) {
    const server = await openEmbeddedPostgres({ directory, parameters: FAST });
    await query(server.url('postgres'), `create table t${round} (n int)`);
    expect(await query(server.url('postgres'), 'select current_database() name')).toEqual([{ name: 'postgres' }]);
    await server.close();
  }
});

it('the embedded PostgreSQL refuses a folder with a line break in one line', async () => {
  const opening = openEmbeddedPostgres({ directory: join(newFolder(), 'a\nb'), parameters: FAST });
  await expect(opening).rejects.toThrow(
    /^The embedded PostgreSQL accepts no line break in DATA_DIR\. Set it to another/,
  );
});

// Its programs pass their own path through a shell: initdb says that "postgres" was not found beside it.
it.each(['a$b', 'a"b', 'a`b', 'a\\b'])(
  'programs in a project in the folder %j are refused with the character',
  (name) => {
    const root = join(newFolder(), name, 'package');
    cpSync(join(locateBinaries().root, 'package.json'), join(root, 'package.json'));
    expect(() => binariesIn(root)).toThrow(
      `a shell interprets ${JSON.stringify(name[1])} in the path of its programs. Move the project`,
    );
  },
);
