import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { wavHeader } from '../../libs/audio/index.js';
import { type Kamailio, startKamailio } from './kamailio.js';
import { freePort } from './sipp.js';

/** A trunk: users register with the password "secret", and numbers are those of users with the same digits. */
const CONFIGURATION = `
request_route {
  if (has_totag()) { if (loose_route()) { t_relay(); } else if (!is_method("ACK")) { sl_send_reply("404", "No route"); } exit; }
  if (is_method("CANCEL")) { if (t_check_trans()) { t_relay(); } else { sl_send_reply("481", "None"); } exit; }
  if (is_method("OPTIONS")) { sl_send_reply("200", "OK"); exit; }
  if (is_method("REGISTER")) {
    if (!pv_www_authenticate("trunk", "secret", "0")) { www_challenge("trunk", "1"); exit; }
    save("location");
    exit;
  }
  if (!is_method("INVITE")) { exit; }
  record_route();
  if ($rU =~ "^\\+") { strip(1); }
  if (!lookup("location")) { sl_send_reply("404", "Not registered"); exit; }
  t_relay();
}
`;

export type Trunk = Kamailio;
export const startTrunk = (): Promise<Trunk> => startKamailio(CONFIGURATION);

const request = (line: string, from: string, cseq: string, more: readonly string[] = []): string =>
  [
    `<send><![CDATA[\n${line} SIP/2.0`,
    cseq.endsWith('ACK') && line.includes('[service]')
      ? '[last_Via:]'
      : 'Via: SIP/2.0/[transport] [local_ip]:[local_port];branch=[branch]',
    ...(line.includes('[next_url]') ? ['[routes]'] : []),
    `From: ${from};tag=[call_number]`,
    cseq === '1 INVITE' ? 'To: <sip:[service]@[remote_ip]:[remote_port]>' : '[last_To:]',
    'Call-ID: [call_id]',
    `CSeq: ${cseq}`,
    'Contact: <sip:agent@[local_ip]:[local_port];transport=[transport]>',
    'Max-Forwards: 70',
    ...(more.length === 0
      ? ['Content-Length: 0', '', '']
      : ['Content-Type: application/sdp', 'Content-Length: [len]', '', ...more]),
    ']]></send>',
  ].join('\n');

const OFFER = [
  'v=0',
  'o=agent 1 1 IN IP[local_ip_type] [local_ip]',
  's=-',
  'c=IN IP[media_ip_type] [media_ip]',
  't=0 0',
  'm=audio [auto_media_port] RTP/AVP 0 101',
  'a=rtpmap:101 telephone-event/8000',
  '',
];

function scenario({ from, outcome, talkMs = 300 }: SippCall): string {
  const optional = ['100', '180'].map((status) => `<recv response="${status}" optional="true"/>`);
  const target = 'sip:[service]@[remote_ip]:[remote_port]';
  const steps =
    outcome === 'answered'
      ? [
          '<recv response="200" rrs="true"/>',
          request('ACK [next_url]', from, '1 ACK'),
          `<pause milliseconds="${talkMs}"/>`,
          request('BYE [next_url]', from, '2 BYE'),
          '<recv response="200"/>',
        ]
      : outcome === 'ended'
        ? [
            '<recv response="200" rrs="true"/>',
            request('ACK [next_url]', from, '1 ACK'),
            '<recv request="BYE"/>',
            '<send><![CDATA[\nSIP/2.0 200 OK\n[last_Via:]\n[last_From:]\n[last_To:]\n[last_Call-ID:]\n[last_CSeq:]\nContent-Length: 0\n\n]]></send>',
          ]
        : [`<recv response="${outcome}"/>`, request(`ACK ${target}`, from, '1 ACK')];
  const all = [request(`INVITE ${target}`, from, '1 INVITE', OFFER), ...optional, ...steps];
  return `<?xml version="1.0" encoding="UTF-8"?>\n<scenario name="caller">\n${all.join('\n')}\n</scenario>`;
}

export interface SippCall {
  readonly to: string;
  /** The value of From, without tag. */
  readonly from: string;
  /** What must come: the call is hung up by the caller after `talkMs`, is `ended` by the other side, or refused with this status. */
  readonly outcome: 'answered' | 'ended' | 404 | 486;
  readonly talkMs?: number;
}

/** Lets SIPp call a number of the trunk. @returns undefined if everything came as expected, otherwise what SIPp wrote */
export async function callBySipp(trunk: Trunk, call: SippCall): Promise<string | undefined> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'sipp-'));
  writeFileSync(path.join(folder, 'call.xml'), scenario(call));
  const network = ['-t', 't1', '-i', '127.0.0.1', '-p', `${await freePort()}`, '-s', call.to];
  const limits = ['-m', '1', '-timeout', '30s', '-timeout_error', '-nostdin', '-trace_err', '-error_file', 'errors'];
  const sipp = spawn('sipp', ['-sf', 'call.xml', ...network, ...limits, `127.0.0.1:${trunk.port}`], { cwd: folder });
  let output = '';
  for (const stream of [sipp.stdout, sipp.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const code = await new Promise((resolve) => sipp.on('close', resolve));
  rmSync(folder, { recursive: true });
  return code === 0 ? undefined : `${String(code)}: ${output.slice(-1_500)}`;
}

const BARESIP_MODULES = ['g711', 'aufile'];

/**
 * Lets baresip call a number of the trunk as this user, until it is hung up or `stop`.
 * @param said 16-bit samples at 8 kHz, after which it hangs up
 */
export function callByBaresip(trunk: Trunk, { to, user, said }: { to: string; user: string; said: Buffer }) {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'baresip-'));
  const header = wavHeader({ encoding: 'pcm16', rate: 8_000, channels: 1 }, said.length);
  writeFileSync(path.join(folder, 'said.wav'), Buffer.concat([header, said]));
  const configuration = [
    'sip_listen 127.0.0.1:0',
    `audio_source aufile,${path.join(folder, 'said.wav')}`,
    `audio_player aufile,${path.join(folder, 'heard.wav')}`,
    'audio_alert aufile,/dev/null',
    'net_interface 127.0.0.1',
    'module_path /usr/lib/baresip/modules',
    ...BARESIP_MODULES.map((name) => `module ${name}.so`),
    'module_app account.so',
    'module_app menu.so',
  ];
  writeFileSync(path.join(folder, 'config'), `${configuration.join('\n')}\n`);
  writeFileSync(path.join(folder, 'accounts'), `<sip:${user}@127.0.0.1:${trunk.port};transport=tcp>;regint=0\n`);
  writeFileSync(path.join(folder, 'contacts'), '');
  const dial = `/dial sip:${to}@127.0.0.1:${trunk.port};transport=tcp`;
  const baresip = spawn('baresip', ['-f', folder, '-e', dial], { stdio: ['pipe', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [baresip.stdout, baresip.stderr])
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  return {
    output: () => output,
    stop: async () => {
      const ended = new Promise((resolve) => baresip.on('close', resolve));
      baresip.kill('SIGKILL');
      await ended;
      rmSync(folder, { recursive: true });
    },
  };
}
