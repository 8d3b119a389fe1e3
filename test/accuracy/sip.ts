import type { AnswerStamp } from '../simulators/agent/index.js';
import {
  evaluationOf,
  judged,
  voiceAccuracy,
  type VoiceCell,
  type VoiceCellResult,
  VoiceCalls,
  voiceCells,
  voiceOfCell,
} from '../simulators/agent/testing/voice.js';
import { isExpected } from '../simulators/agent/voice/expected.js';
import { SIP_FAULTS, sipExpectationOf } from '../simulators/sip/expected.js';
import type { RtpLineOptions } from '../simulators/sip/rtp-line.js';
import type { CallResult } from '../../libs/simulation/index.js';
import { percentile } from '../../libs/statistics/index.js';
import { mapLimited } from './limited.js';
import { Progress } from './progress.js';
import { startTelephoneAgent } from './telephone.js';

/** Calls at once: two threads and two processes measure in real time. */
const CALLS_AT_ONCE = 5;
const ATTEMPTS = 3;
const MAX_ERROR_MS = 25;
/** A packet is sent when its last sample is known, so that its sound is heard so much later than the agent said it. */
const PACKET_MS = 20;
const HEALTHY_CALLS = 12;
const JITTER: RtpLineOptions = { jitterMs: 80, loss: 0.02 };

/** As over Media Streams, but for findings of its protocol. */
function judgedOverSip(cell: VoiceCell, result: CallResult): VoiceCellResult {
  const failed = result.checks.filter(({ met }) => met === false).map(({ name }) => name);
  const { outcome, end } = result;
  const isRight = isExpected(sipExpectationOf(cell.fault, cell.key), { outcome, endCode: end.code, failed });
  return { ...judged(cell, result), isRight };
}

interface Measured {
  readonly results: readonly VoiceCellResult[];
  readonly errors: readonly number[];
}

async function measured(
  calls: VoiceCalls,
  title: string,
  cells: readonly VoiceCell[],
  options: RtpLineOptions,
): Promise<Measured> {
  const agent = await startTelephoneAgent({ sip: options });
  const progress = new Progress(title, cells.length);
  const errors: number[] = [];
  const packetMs = options.sender === undefined ? PACKET_MS : 0;
  try {
    const results = await mapLimited(cells, CALLS_AT_ONCE, async (cell) => {
      for (let attempt = 1; ; attempt++) {
        let callId = '';
        const wire = (lines: readonly string[]) => (callId ||= /Call-ID: ([^\s"\\]+)/.exec(lines.join(' '))?.[1] ?? '');
        const recording = { audio: () => undefined, wire: (lines: readonly string[]) => void wire(lines) };
        const url = agent.url.replace('AGENT', encodeURIComponent(`booking:${cell.fault ?? 'healthy'}`));
        const result = await calls.callOver(url, evaluationOf(cell), voiceOfCell(cell), recording, { protocol: 'sip' });
        // As the service does, a call with a fault of the tester is tried again.
        if (result.failure?.code === 'tester_overloaded' && attempt < ATTEMPTS) continue;
        progress.advance();
        if (!cell.fault)
          errors.push(...errorsOf(result.voice?.voice.latencies ?? [], agent.stampsOf(callId), packetMs));
        return judgedOverSip(cell, result);
      }
    });
    return { results, errors };
  } finally {
    progress.end();
    await agent.close();
  }
}

/** Latencies as heard, less the agent's own times. */
function errorsOf(
  latencies: readonly { readonly heardMs: number | null }[],
  stamps: readonly AnswerStamp[],
  packetMs: number,
): readonly number[] {
  if (latencies.length !== stamps.length) return [];
  return stamps.map(
    ({ firstByteMs, callerEndMs, leadMs }, index) =>
      (latencies[index]?.heardMs ?? Infinity) - (firstByteMs + leadMs - callerEndMs) - packetMs,
  );
}

/**
 * The fault matrix of the telephone over SIP: with a line that jitters and loses packets, and healthy agents whose sender
 * stops its timestamps in silence or sends ahead. @returns whether the limits hold
 */
export async function measureSip(): Promise<boolean> {
  const calls = new VoiceCalls();
  try {
    await calls.prepare();
    const faults: readonly (string | undefined)[] = [undefined, ...SIP_FAULTS];
    const all = voiceCells(1).filter(
      ({ fault, key }) => faults.includes(fault) && (!fault || sipExpectationOf(fault, key).outcome === 'failed'),
    );
    const healthy = all.filter(({ fault }) => !fault).slice(0, HEALTHY_CALLS);
    const rows: [string, readonly VoiceCell[], RtpLineOptions][] = [
      ['0 to 80 ms jitter and 2 % loss', all, JITTER],
      ['timestamps that stand still in silence', healthy, { sender: 'standing' }],
      ['sent 240 ms ahead', healthy, { sender: 'ahead' }],
    ];
    let isRight = true;
    for (const [name, cells, options] of rows) {
      const { results, errors } = await measured(calls, `SIP, ${name}`, cells, options);
      const { precision, recall } = voiceAccuracy(results);
      const sizes = errors.map(Math.abs).sort((a, b) => a - b);
      const p95 = percentile(sizes, 95) ?? Infinity;
      process.stdout.write(
        `SIP, ${name}: ${results.length} calls, failed: precision ${precision.toFixed(3)}, recall ${recall.toFixed(3)}; ` +
          `latency of ${errors.length} answers: median error ${(
            percentile(
              [...errors].sort((a, b) => a - b),
              50,
            ) ?? NaN
          ).toFixed(1)} ms, p95 ${p95.toFixed(1)} ms\n`,
      );
      for (const { fault, key, line, seed, found } of results.filter((result) => !result.isRight)) {
        process.stdout.write(`WRONG  ${fault ?? 'healthy'} in ${key}, ${line}, seed ${seed}: ${found}\n`);
      }
      isRight &&= results.every((result) => result.isRight) && (options.sender === 'ahead' || p95 <= MAX_ERROR_MS);
    }
    return isRight;
  } finally {
    await calls.close();
  }
}
