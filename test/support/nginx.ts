import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { PROJECT_ROOT } from '../../src/platform/project-root.js';
import { accepts, freePort } from './redis.js';

export interface Nginx {
  readonly url: string;
  readonly port: number;
  close(): Promise<void>;
}

/** The directives of nginx that docs/operation/proxies.md recommends, for a service at another address. */
export function documentedLocation(upstream: string): string {
  const text = readFileSync(path.join(PROJECT_ROOT, 'docs/operation/proxies.md'), 'utf8');
  const [, location = ''] = /^( {2}location \/vat\/ \{\n[^]*?^ {2}\})$/m.exec(text) ?? [];
  if (!location.includes('proxy_pass http://127.0.0.1:3000/;')) throw new Error('The page has no location of nginx');
  return location.replace('http://127.0.0.1:3000', upstream);
}

/** A real nginx on a free loopback port. @param server its directives, @param http those of the level above */
export async function startNginx(server: string, http = ''): Promise<Nginx> {
  const folder = await mkdtemp(path.join(tmpdir(), 'nginx-'));
  const port = await freePort();
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  );
  const configuration = `daemon off; master_process off; pid ${folder}/pid; error_log stderr crit;
events {}
http {
  access_log off; ${paths.join(' ')}
  ${http}
  server { listen 127.0.0.1:${port}; ${server} }
}
`;
  await writeFile(path.join(folder, 'nginx.conf'), configuration);
  const args = ['-p', folder, '-c', path.join(folder, 'nginx.conf'), '-e', 'stderr'];
  const child: ChildProcess = spawn('nginx', args, { stdio: ['ignore', 'ignore', 'inherit'] });
  while (!(await accepts(port))) if (child.exitCode !== null) throw new Error('nginx ended');
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    close: async () => {
      child.kill('SIGTERM');
      if (child.exitCode === null) await once(child, 'exit');
      await rm(folder, { recursive: true, force: true });
    },
  };
}
