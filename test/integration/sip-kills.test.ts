import { spawn } from 'node:child_process';
import { type CallHandle, end, type Ending } from '../../libs/sip/index.js';
import { connectByTcp } from '../../libs/sip/testing/far-side.js';
import { shareOf } from '../../libs/statistics/testing/sample.js';
import { type Kamailio, startKamailio } from '../support/kamailio.js';
import { programArguments } from '../support/program.js';
import { describeWith } from '../support/programs.js';
import type { CallerInput, KilledAt } from '../support/sip-caller.js';
import { accept, INVITED, PCMU, recv, respond, startSipp, type Step } from '../support/sipp.js';

const CALLS = shareOf(50);
const TRYING = [INVITED, respond('100 Trying', { tag: '' })];
const RINGING = [...TRYING, respond('180 Ringing')];
const ANSWERED = [...RINGING, respond('200 OK', { media: PCMU }), recv('ACK')];
const CANCELLED = [recv('CANCEL'), accept(), respond('487 Request Terminated', { cseq: '1 INVITE' }), recv('ACK')];
const ENDED = [recv('BYE'), accept()];
const NONE = [recv('ACK'), recv('BYE'), accept('481 Call/Transaction Does Not Exist')];

/** What the far side of each call sees of the process that was killed, and of the one that ends its calls. */
const STEPS: [KilledAt, Step[]][] = [
  ['before INVITE', []],
  ['after INVITE', [...TRYING, ...CANCELLED]],
  ['while it rings', [...RINGING, ...CANCELLED]],
  ['before ACK', [...ANSWERED, ...ENDED]],
  ['after ACK', [...ANSWERED, recv('ACK'), ...ENDED]],
  ['in the call', [...ANSWERED, recv('ACK'), ...ENDED]],
  ['at BYE', [...ANSWERED, ...ENDED, ...NONE]],
];

/** A proxy, whose connection to the far side outlives the process. */
const configuration = (farSide: number): string => `request_route {
  if (has_totag()) { if (loose_route()) { t_relay(); } else if (!is_method("ACK")) { sl_send_reply("404", "No route"); } exit; }
  if (is_method("CANCEL")) { if (t_check_trans()) { t_relay(); } else { sl_send_reply("481", "None"); } exit; }
  if (!is_method("INVITE")) { exit; }
  record_route();
  $du = "sip:127.0.0.1:${farSide}";
  t_relay();
}
`;

/** The last handle of each call of the process, when it is dead. */
async function killedCalls(input: CallerInput): Promise<CallHandle[]> {
  const caller = spawn(process.execPath, [...programArguments('test/support/sip-caller.ts'), JSON.stringify(input)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  caller.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const signal = await new Promise((resolve) => caller.on('close', (_code, by) => resolve(by)));
  expect(signal).toBe('SIGKILL');
  const handles = output
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as CallHandle);
  return [...new Map(handles.map((handle) => [handle.callId, handle])).values()];
}

describeWith('sipp', 'The calls of a process that is killed', () => {
  let kamailio: Kamailio;
  afterEach(() => kamailio.stop());

  it.each(STEPS)('%s are ended by their handles from another process', async (at, steps) => {
    const sipp = steps.length > 0 ? await startSipp(steps, ['-m', `${CALLS}`, '-timeout', '60s'], 'udp') : undefined;
    kamailio = await startKamailio(configuration(sipp?.port ?? 9));
    const address = { user: 'agent', host: '127.0.0.1', port: kamailio.port, transport: 'tcp' as const };
    const handles = await killedCalls({ address, calls: CALLS, at });
    expect(handles).toHaveLength(CALLS);
    const options = { connect: connectByTcp, address, userAgent: 'ends' };
    const endings = await Promise.all(handles.map((handle) => end(options, handle)));
    expect((await sipp?.done) ?? { code: 0 }).toMatchObject({ code: 0 });
    expect(endings).toEqual(Array<Ending>(CALLS).fill('ended'));
  });
});
