import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo, connect } from 'node:net';
import os from 'node:os';
import path from 'node:path';

/** A step of the other side: a method or status that it waits for, or a text that it sends. */
export type Step =
  { readonly recv: string; readonly optional?: boolean; readonly actions?: string } | { readonly send: string };

export const recv = (what: string, actions?: string): Step =>
  actions === undefined ? { recv: what } : { recv: what, actions };

const CONTACT = 'Contact: <sip:far@[local_ip]:[local_port];transport=[transport]>';
export const PCMU = 'm=audio 40000 RTP/AVP 0 101\na=rtpmap:101 telephone-event/8000';

const description = (media: string): string =>
  [
    'v=0',
    'o=far 1 1 IN IP[local_ip_type] [local_ip]',
    's=-',
    'c=IN IP[media_ip_type] [media_ip]',
    't=0 0',
    media,
    '',
  ].join('\n');

interface Extra {
  readonly lines?: readonly string[];
  readonly media?: string;
  readonly tag?: string;
  readonly cseq?: string;
}

const withBody = (head: readonly string[], media: string | undefined): string =>
  media === undefined
    ? [...head, 'Content-Length: 0', '', ''].join('\n')
    : [...head, 'Content-Type: application/sdp', 'Content-Length: [len]', '', description(media)].join('\n');

/** A response to the last request; `cseq` if it is to the INVITE, and another one came after it. */
export const respond = (status: string, { lines = [CONTACT], media, tag = 'far', cseq }: Extra = {}): Step => ({
  send: withBody(
    [
      `SIP/2.0 ${status}`,
      cseq === undefined ? '[last_Via:]' : 'Via:[$4]',
      cseq === undefined ? '[last_From:]' : 'From:[$1]',
      (cseq === undefined ? '[last_To:]' : 'To:[$2]') + (tag === '' ? '' : `;tag=${tag}`),
      '[last_Call-ID:]',
      '[last_Record-Route:]',
      cseq === undefined ? '[last_CSeq:]' : `CSeq: ${cseq}`,
      ...lines,
    ],
    media,
  ),
});

/** A response to a request that has a To tag. */
export const accept = (status = '200 OK'): Step => respond(status, { tag: '' });

/** A request within the call. [$1] and [$2] are From and To of the INVITE, [$3] its Contact; see `INVITED`. */
export const request = (method: string, cseq: number, { lines = [], media }: Extra = {}): Step => ({
  send: withBody(
    [
      `${method} [$3] SIP/2.0`,
      'Via: SIP/2.0/[transport] [local_ip]:[local_port];branch=[branch]',
      'From:[$2];tag=far',
      'To:[$1]',
      'Call-ID: [call_id]',
      `CSeq: ${cseq} ${method}`,
      'Max-Forwards: 70',
      CONTACT,
      ...lines,
    ],
    media,
  ),
});

/** Waits for INVITE and keeps its addresses. */
export const INVITED: Step = recv(
  'INVITE',
  [
    '<ereg regexp=".*" search_in="hdr" header="From:" assign_to="1"/>',
    '<ereg regexp=".*" search_in="hdr" header="To:" assign_to="2"/>',
    '<ereg regexp="sip:[^>]*" search_in="hdr" header="Contact:" assign_to="3"/>',
    '<ereg regexp=".*" search_in="hdr" header="Via:" assign_to="4"/>',
  ].join(''),
);

function xmlOf(steps: readonly Step[]): string {
  const elements = steps.map((step) => {
    if ('send' in step) return `<send><![CDATA[\n${step.send}]]></send>`;
    const kind = /^\d/.test(step.recv) ? 'response' : 'request';
    const actions = step.actions === undefined ? '' : `<action>${step.actions}</action>`;
    return `<recv ${kind}="${step.recv}"${step.optional === true ? ' optional="true"' : ''}>${actions}</recv>`;
  });
  const used = '1,2,3,4';
  return `<?xml version="1.0" encoding="UTF-8"?>\n<scenario name="far side">\n${elements.join('\n')}\n<Reference variables="${used}"/></scenario>`;
}

export interface Sipp {
  readonly port: number;
  /** Resolves when the scenario is over: its exit code, 0 if everything came as expected, and what it wrote. */
  readonly done: Promise<{ code: number | null; output: string }>;
  stop(): void;
}

/** Starts SIPp as the side that is called, for one call over TCP if the options name nothing else. */
export async function startSipp(
  steps: readonly Step[],
  options: readonly string[] = [],
  transport: 'tcp' | 'udp' = 'tcp',
): Promise<Sipp> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'sipp-'));
  const file = path.join(folder, 'far.xml');
  writeFileSync(file, xmlOf(steps));
  const port = await freePort();
  const fixed = [
    '-t',
    transport === 'tcp' ? 't1' : 'u1',
    '-i',
    '127.0.0.1',
    '-p',
    `${port}`,
    '-m',
    '1',
    '-timeout',
    '30s',
    '-timeout_error',
    '-nostdin',
  ];
  const process = spawn(
    'sipp',
    ['-sf', file, ...fixed, '-trace_err', '-error_file', path.join(folder, 'errors'), ...options],
    { cwd: folder },
  );
  let output = '';
  for (const stream of [process.stdout, process.stderr])
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const done = new Promise<{ code: number | null; output: string }>((resolve) =>
    process.on('close', (code) => {
      rmSync(folder, { recursive: true });
      resolve({ code, output: output.slice(-2_000) });
    }),
  );
  // Over UDP, what comes before it listens is sent again.
  if (transport === 'tcp') await listening(port, process);
  return { port, done, stop: () => process.kill('SIGKILL') };
}

export const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });

/** Waits until the program listens, by connecting to it. */
export async function listening(port: number, process: ChildProcess): Promise<void> {
  for (let tries = 0; tries < 300 && process.exitCode === null; tries += 1) {
    const open = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => resolve((socket.destroy(), true)));
      socket.on('error', () => resolve(false));
    });
    if (open) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`nothing listens on port ${port}`);
}
