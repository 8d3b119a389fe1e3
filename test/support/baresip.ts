import { execFileSync, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { listening } from './sipp.js';

export interface BaresipOptions {
  /** The file that it says to each caller, 16-bit WAV of 8,000 Hz. */
  readonly says: Buffer;
  /** Parameters of its account, such as `;mediaenc=srtp-mand`. */
  readonly account?: string;
  /** Further lines of its configuration. */
  readonly configuration?: readonly string[];
}

/** What `ctrl_tcp` sends: answers to commands, and events with a `type`. */
export type BaresipEvent = Readonly<Record<string, unknown>>;

/** A user agent of Debian (`baresip-core`) at 127.0.0.1 that answers at once. It listens for TLS at the next port. */
export class Baresip {
  readonly events: BaresipEvent[] = [];
  output = '';
  private constructor(
    readonly port: number,
    /** PEM. */
    readonly certificate: Buffer,
    private readonly control: Socket,
    readonly stop: () => Promise<void>,
  ) {}

  static async start({ says, account = '', configuration = [] }: BaresipOptions): Promise<Baresip> {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'baresip-'));
    const at = (name: string): string => path.join(folder, name);
    // Below the range from which the system takes ports, because two are needed side by side.
    const port = 20_000 + 4 * randomInt(2_500);
    const names = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1'];
    const request = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', ...names];
    execFileSync('openssl', [...request, '-keyout', at('key.pem'), '-out', at('certificate.pem')], { stdio: 'ignore' });
    const certificate = readFileSync(at('certificate.pem'));
    writeFileSync(at('both.pem'), Buffer.concat([readFileSync(at('key.pem')), certificate]));
    writeFileSync(at('said.wav'), says);
    const lines = [
      `sip_listen 127.0.0.1:${port}`,
      `sip_certificate ${at('both.pem')}`,
      `ctrl_tcp_listen 127.0.0.1:${port + 2}`,
      `audio_source aufile,${at('said.wav')}`,
      'audio_alert aufile,/dev/null',
      'net_interface 127.0.0.1',
      'module_path /usr/lib/baresip/modules',
      ...['g711', 'aufile', 'srtp'].map((name) => `module ${name}.so`),
      ...['account', 'menu', 'ctrl_tcp'].map((name) => `module_app ${name}.so`),
      ...configuration,
    ];
    writeFileSync(at('config'), `${lines.join('\n')}\n`);
    writeFileSync(at('accounts'), `<sip:agent@127.0.0.1>;regint=0;answermode=auto${account}\n`);
    writeFileSync(at('contacts'), '');
    const process = spawn('baresip', ['-f', folder], { stdio: ['ignore', 'pipe', 'pipe'] });
    const ended = new Promise((resolve) => process.on('close', resolve));
    await listening(port, process);
    const control = connect(port + 2, '127.0.0.1');
    const baresip: Baresip = new Baresip(port, certificate, control, async () => {
      control.destroy();
      process.kill('SIGKILL');
      await ended;
      rmSync(folder, { recursive: true });
    });
    for (const stream of [process.stdout, process.stderr])
      stream.on('data', (chunk: Buffer) => (baresip.output += chunk.toString()));
    let received = '';
    control.on('data', (chunk: Buffer) => {
      received += chunk.toString();
      // Netstrings: length, colon, text, comma.
      for (;;) {
        const [head, length] = /^(\d+):/.exec(received) ?? [];
        if (head === undefined || received.length < head.length + Number(length) + 1) return;
        baresip.events.push(JSON.parse(received.slice(head.length, head.length + Number(length))) as BaresipEvent);
        received = received.slice(head.length + Number(length) + 1);
      }
    });
    return baresip;
  }

  /** Executes a command of its menu, such as `hangup`. */
  command(command: string, params = ''): void {
    const text = JSON.stringify({ command, params, token: command });
    this.control.write(`${text.length}:${text},`);
  }
}
