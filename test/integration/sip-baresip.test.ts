import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { randomBytes, randomInt } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { connect as connectByTls } from 'node:tls';
import { mediaOffer, parseSipAddress, SipCall, type SipConnect, SipEndpoint } from '../../libs/sip/index.js';
import { wavHeader } from '../../libs/audio/index.js';
import { describeWith } from '../support/programs.js';
import { freePort, listening } from '../support/sipp.js';

const modules = ['g711', 'aufile', 'srtp'];

describeWith('baresip', 'baresip', () => {
  let folder = '';
  let baresip: ChildProcess | undefined;
  let output = '';

  /** A user agent that answers at once; it listens for TLS at the next port. */
  async function start(account: string): Promise<number> {
    folder = mkdtempSync(path.join(os.tmpdir(), 'baresip-'));
    // Below the range from which the system takes ports, because two are needed side by side.
    const port = 20_000 + 2 * randomInt(5_000);
    const [key, certificate, both] = ['key.pem', 'certificate.pem', 'both.pem'].map((name) =>
      path.join(folder, name),
    ) as [string, string, string];
    const request = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=127.0.0.1'];
    execFileSync('openssl', [...request, '-keyout', key, '-out', certificate], { stdio: 'ignore' });
    writeFileSync(both, readFileSync(key, 'utf8') + readFileSync(certificate, 'utf8'));
    const sound = Buffer.alloc(160_000);
    const header = wavHeader({ encoding: 'pcm16', rate: 8_000, channels: 1 }, sound.length);
    writeFileSync(path.join(folder, 'said.wav'), Buffer.concat([header, sound]));
    const configuration = [
      `sip_listen 127.0.0.1:${port}`,
      `sip_certificate ${both}`,
      `audio_source aufile,${path.join(folder, 'said.wav')}`,
      `audio_player aufile,${path.join(folder, 'heard.wav')}`,
      'audio_alert aufile,/dev/null',
      'net_interface 127.0.0.1',
      'module_path /usr/lib/baresip/modules',
      ...modules.map((name) => `module ${name}.so`),
      'module_app account.so',
      'module_app menu.so',
    ];
    writeFileSync(path.join(folder, 'config'), `${configuration.join('\n')}\n`);
    writeFileSync(path.join(folder, 'accounts'), `<sip:agent@127.0.0.1>;regint=0;answermode=auto${account}\n`);
    writeFileSync(path.join(folder, 'contacts'), '');
    baresip = spawn('baresip', ['-f', folder], { stdio: ['pipe', 'pipe', 'pipe'] });
    output = '';
    for (const stream of [baresip.stdout, baresip.stderr])
      stream?.on('data', (chunk: Buffer) => (output += chunk.toString()));
    await listening(port, baresip);
    return port;
  }

  afterEach(async () => {
    const ended = new Promise((resolve) => baresip?.on('close', resolve));
    baresip?.kill('SIGKILL');
    await ended;
    rmSync(folder, { recursive: true });
  });

  const connection: SipConnect = ({ host, port, transport }) =>
    new Promise((resolve, reject) => {
      const socket: Socket =
        transport === 'tls'
          ? connectByTls(
              {
                host,
                port,
                ca: readFileSync(path.join(folder, 'certificate.pem')),
                checkServerIdentity: () => undefined,
              },
              () => resolve(socket),
            )
          : connect(port, host, () => resolve(socket));
      socket.on('error', reject);
    });

  it.each([
    ['TCP', 0, 'tcp', '', undefined, 'Set audio encoder: PCMU'],
    ['TLS and SRTP', 1, 'tls', ';mediaenc=srtp-mand', randomBytes(30).toString('base64'), 'SRTP is Enabled'],
  ])('answers a call over %s, and ends it by our BYE', async (_, offset, transport, account, srtpKey, said) => {
    const port = (await start(account)) + offset;
    const address = parseSipAddress(`sip:agent@127.0.0.1:${port};transport=${transport}`);
    const endpoint = await SipEndpoint.open({ connect: connection, address, userAgent: 'test' });
    const offer = mediaOffer({
      address: '127.0.0.1',
      port: await freePort(),
      session: 1,
      ...(srtpKey === undefined ? {} : { srtpKey }),
    });
    const call = new SipCall(endpoint, { target: address, offer, srtp: srtpKey !== undefined });
    expect(await call.result).toMatchObject({ media: { codec: 'PCMU', address: '127.0.0.1' } });
    expect(await call.hangUp()).toBe('ended');
    endpoint.close();
    expect(output).toContain(said);
  });

  it('refuses a call without SRTP if it requires it', async () => {
    const port = await start(';mediaenc=srtp-mand');
    const address = parseSipAddress(`sip:agent@127.0.0.1:${port}`);
    const endpoint = await SipEndpoint.open({ connect: connection, address, userAgent: 'test' });
    const call = new SipCall(endpoint, {
      target: address,
      offer: mediaOffer({ address: '127.0.0.1', port: await freePort(), session: 1 }),
    });
    expect(await call.result).toMatchObject({ failure: 'codec_refused', status: 488 });
    endpoint.close();
  });
});
