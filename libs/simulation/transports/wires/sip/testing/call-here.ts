import { OutboundClient } from '../../../../../outbound-http/index.js';
import type { VoiceFacts } from '../../../../voice/facts/facts.js';
import type { VoiceCallOptions } from '../../../../voice/wire/voice-transport.js';
import { planOf } from '../../../../voice/testing/virtual-calls.js';
import type { AgentCall, AgentEndpoint } from '../../../modules/endpoint.js';
import { mediaThreads } from '../../../protocols.js';
import { VoiceCall } from '../../../voice-call.js';
import { SipSession } from '../dial.js';
import { sip } from '../index.js';

interface More extends Partial<VoiceCallOptions> {
  readonly endpoint?: Partial<AgentEndpoint>;
  readonly call?: Partial<AgentCall>;
}

export const sessionHere = (endpoint: AgentEndpoint, call: AgentCall) => new SipSession(endpoint, call);

/** A call to a listening address of this machine, whose signalling runs in this thread, so that a test can watch it. */
export function callHere(
  url: string,
  { endpoint, call, ...options }: More = {},
): {
  readonly facts: Promise<VoiceFacts>;
  /** What the ledger got, in order. */
  readonly stored: { readonly ended?: true }[];
} {
  const stored: { readonly ended?: true }[] = [];
  const dialled: AgentCall = {
    client: new OutboundClient({ allowedNetworks: ['127.0.0.0/8'] }),
    ...{ assistantId: 'a-1', phoneNumber: '', workspaceId: 'w-1', callId: 'c-1' },
    ledger: {
      placed: (handle) => Promise.resolve(void stored.push(handle as { ended?: true })),
      identified: () => Promise.resolve(),
      paid: () => Promise.resolve(),
    },
    ...call,
  };
  const session = new SipSession(
    { protocol: 'sip', url, headers: {}, firstSpeaker: 'agent', options: {}, ...endpoint },
    dialled,
  );
  const { signal } = new AbortController();
  const facts = mediaThreads.use('w-1', signal, (thread) =>
    new VoiceCall(sip, session, dialled, thread).run({
      plan: planOf([{ type: 'wait', ms: 1_000 }], { turnEndMs: 300, patienceMs: 1_500 }),
      signal,
      ...options,
    }),
  );
  return { facts, stored };
}
