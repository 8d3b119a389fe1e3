/**
 * Keeps what the environment of a machine says to other programs from this one. Imported first, for its effect: some
 * libraries read the environment when they are loaded.
 */
import { homedir } from 'node:os';

const { env } = process;

for (const [name, value] of Object.entries(env)) {
  // A file .env that Windows saved may begin with a byte order mark; Node adds it, and the comments after it, to a name.
  if (name.startsWith('\uFEFF')) {
    delete env[name];
    const setting = name.slice(1).split('\n').at(-1) ?? '';
    if (!setting.startsWith('#') && setting !== '') env[setting] ??= value;
  }
  // UTF-16, which cannot be read at all.
  if (name.startsWith('\uFFFD\uFFFD')) {
    process.stderr.write('The file .env is not in UTF-8 (Windows PowerShell writes UTF-16). Save it as UTF-8\n');
    process.exit(1);
  }
}
/** PostgreSQL's clients add them to the settings that they get; the queue's library takes its schema and its log from them. */
const FOREIGN = env['DATABASE_URL']?.trim() ? /^(GRAPHILE_|NODE_PG_)/ : /^(GRAPHILE_|NODE_PG_|PG[A-Z])/;
for (const name of Object.keys(env)) if (FOREIGN.test(name)) delete env[name];

try {
  homedir();
} catch {
  // A user without an entry in /etc/passwd, as in a container: a library looks for its configuration from here.
  env['HOME'] = '/';
}
