import { OutboundClient } from '../../libs/outbound-http/index.js';
import { startReferenceAgent } from '../simulators/agent/index.js';
import {
  accuracyOf,
  executeTrial,
  isPerfect,
  tally,
  type Tried,
  trials,
} from '../simulators/agent/testing/accuracy.js';
import { TODAY, type VoiceCalls, WORD_FAULT_NAMES } from '../simulators/agent/testing/voice.js';
import { RealClock, transportTo } from '../../libs/simulation/index.js';
import { mapLimited } from './limited.js';
import { Progress } from './progress.js';

const CALLS_AT_ONCE = 12;
const KEY = 'not-checked';
/** What text can show: not the failures of HTTP. */
const AGENTS: readonly (string | undefined)[] = [undefined, 'slow-answer', ...WORD_FAULT_NAMES];

const PROTOCOLS = { elevenlabs: 'elevenlabs-text', vapi: 'vapi-chat', retell: 'retell-text' } as const;

export type TextPlatform = keyof typeof PROTOCOLS;

/** Every fault in each text evaluation over the text protocol of a platform, over sockets, once. */
export async function measurePlatformText(
  calls: VoiceCalls,
  platform: TextPlatform,
): Promise<{ table: string; isRight: boolean; protocol: string }> {
  const protocol = PROTOCOLS[platform];
  const list = trials(1).filter(({ fault }) => AGENTS.includes(fault));
  const service = { prepare: () => calls.prepare(), now: () => TODAY };
  const server = await startReferenceAgent({ port: 0, [platform]: service });
  const client = new OutboundClient({ allowedNetworks: ['127.0.0.0/8'] });
  const clock = new RealClock();
  const progress = new Progress(`${protocol}, over sockets`, list.length);
  try {
    const tried = await mapLimited(list, CALLS_AT_ONCE, async (trial) => {
      const endpoint = { protocol, url: server.url, headers: {}, firstSpeaker: null, options: {} };
      const assistantId = `booking:${trial.fault ?? 'healthy'}`;
      const call = { client, assistantId, phoneNumber: '', workspaceId: 'w-1', callId: `${assistantId}-${trial.key}` };
      const transport = transportTo({ ...endpoint, apiKey: KEY }, call);
      if ('call' in transport) throw new Error('not a protocol of text');
      const one = await executeTrial(trial, transport, clock);
      progress.advance();
      return one;
    });
    return { table: tableOf(tried), isRight: isPerfect(tally(tried)), protocol };
  } finally {
    progress.end();
    await server.close();
  }
}

const isRight = ({ expected, result, isRightReason }: Tried): boolean =>
  result.outcome === expected.outcome && (expected.outcome === 'passed' || isRightReason);

function tableOf(tried: readonly Tried[]): string {
  const { precision, recall } = accuracyOf(tally(tried));
  for (const one of tried.filter((each) => !isRight(each))) {
    const { fault = 'healthy', key, expected, result } = one;
    process.stdout.write(
      `WRONG  ${fault} in ${key}, expected ${expected.outcome}: ${result.outcome}. ${result.reason}\n`,
    );
  }
  process.stdout.write(
    `sockets: ${tried.length} calls, precision ${precision.toFixed(3)}, recall ${recall.toFixed(3)}\n`,
  );
  const rows = AGENTS.map((fault) => {
    const of = tried.filter((one) => one.fault === fault);
    const failing = of.filter(({ expected }) => expected.outcome === 'failed').length;
    return `| ${fault ?? 'none'} | ${failing} of ${of.length} | ${of.filter(isRight).length} of ${of.length} |`;
  });
  return ['| Fault | Must fail | Right, sockets |', '| --- | --: | --: |', ...rows].join('\n');
}
