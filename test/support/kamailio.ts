import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { freePort, listening } from './sipp.js';

export interface Kamailio {
  /** Of TCP and UDP. */
  readonly port: number;
  stop(): Promise<void>;
}

/** Starts Kamailio at 127.0.0.1 with these lines of its configuration after those that every test needs. */
export async function startKamailio(configuration: string): Promise<Kamailio> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'kamailio-'));
  const port = await freePort();
  const head = `#!KAMAILIO
debug=1
log_stderror=yes
children=1
tcp_children=2
listen=tcp:127.0.0.1:${port}
listen=udp:127.0.0.1:${port}
${['tm', 'sl', 'rr', 'pv', 'auth', 'usrloc', 'registrar', 'textops', 'siputils'].map((one) => `loadmodule "${one}.so"`).join('\n')}
modparam("rr", "enable_full_lr", 1)
`;
  writeFileSync(path.join(folder, 'kamailio.cfg'), head + configuration);
  const files = ['-f', path.join(folder, 'kamailio.cfg'), '-w', folder, '-P', path.join(folder, 'pid'), '-Y', folder];
  const kamailio = spawn('kamailio', ['-DD', '-E', '-m', '32', '-M', '4', ...files], { stdio: 'ignore' });
  await listening(port, kamailio);
  const stop = async (): Promise<void> => {
    const ended = new Promise((resolve) => kamailio.on('close', resolve));
    kamailio.kill();
    await ended;
    rmSync(folder, { recursive: true });
  };
  return { port, stop };
}
