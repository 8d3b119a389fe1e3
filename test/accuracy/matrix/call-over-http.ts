import { OutboundClient } from '../../../libs/outbound-http/index.js';
import { untilEnd } from '../../simulators/agent/testing/accuracy.js';
import { type CallOptions, type CallResult, chatCompletions, RealClock } from '../../../libs/simulation/index.js';

export type Called = Pick<CallOptions, 'definition' | 'scenario'>;

/** Long enough for every healthy answer on a busy machine; agents that stall take three times as long. */
const ANSWER_TIMEOUT_MS = 3_000;

const client = new OutboundClient({ allowedNetworks: ['127.0.0.0/8'] });

/** Calls the agent with this chat-completions address, with retries. */
export const callOverHttp = (called: Called, url: string): Promise<CallResult> =>
  untilEnd({
    ...called,
    personality: { name: 'Plain' },
    transport: chatCompletions({ client, url, assistantId: 'booking', answerTimeoutMs: ANSWER_TIMEOUT_MS }),
    clock: new RealClock(),
  });
