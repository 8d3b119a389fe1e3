import { OtherSide } from '../other-side/other-side.js';
import { CallFailure, failureOf } from '../timeline/failure.js';
import type { VoiceFacts } from '../voice/facts/facts.js';
import { Signalling } from '../voice/wire/signalling.js';
import type { MediaConnection } from '../voice/thread/media-messages.js';
import type { CallThreads, MediaThread } from '../voice/thread/media-thread.js';
import type { VoiceCallOptions, VoiceTransport } from '../voice/wire/voice-transport.js';
import type { SocketTarget } from './http/websocket.js';
import { addressesOf } from './http/outbound-failures.js';
import type { AgentCall, AgentEndpoint } from './modules/endpoint.js';
import type { Dialled, DialledSocket, Found, WireModule, WireSession } from './modules/module.js';
import type { RequestThreads } from './requests/request-thread.js';
import { threadSession } from './requests/thread-session.js';
import { withRecord } from './with-record.js';

/** For the TCP connection, TLS and the upgrade. */
const CONNECT_TIMEOUT_MS = 15_000;
/** For what follows after the stream. */
const AFTER_STREAM_MS = 15_000;
/** For the record of the platform, which it writes after the call. */
const RECORD_MS = 30_000;
const NOT_FOUND = `no record of it was found within ${RECORD_MS / 1_000} s: check that assistantId is that of the agent which was called, and that the header X-Vat-Call reaches its platform`;
const NOTHING: Found = { findings: [], events: [] };

/** Reaches an agent over a wire. @param threads waits, if it must, before the agent is called */
export function voiceTransport(
  module: WireModule,
  endpoint: AgentEndpoint,
  call: AgentCall,
  threads: CallThreads,
  requests: RequestThreads,
): VoiceTransport {
  const session = threadSession(module, endpoint, call, requests);
  const { agent, secrets } = session;
  return {
    name: module.name,
    clock: module.clock,
    lineRate: module.lineRate(endpoint.options),
    providesWords: module.provides.words,
    providesToolCalls: module.provides.toolCalls !== 'none',
    identity: { protocol: module.name, url: agent.address, callId: call.callId },
    secrets,
    call: (options) =>
      threads
        .use(call.workspaceId, options.signal, (thread) => new VoiceCall(module, session, call, thread).run(options))
        .finally(() => session.close?.()),
  };
}

/** One voice call: dials, runs the call in the media thread, and merges what was found before, during and after it. */
export class VoiceCall {
  /** @param onStep what a connection test reports; `at` is on the clock of `performance` */
  constructor(
    private readonly module: WireModule,
    private readonly session: WireSession,
    private readonly call: AgentCall,
    private readonly thread: MediaThread,
    private readonly onStep: (step: string, at: number) => void = () => undefined,
  ) {}

  /** @throws CallFailure if there was no call; the signal's reason */
  async run(options: VoiceCallOptions): Promise<VoiceFacts> {
    const { signal, speak, onAborted, recording } = options;
    signal.throwIfAborted();
    const signalling = new Signalling();
    let bound: { readonly id: number } | undefined;
    const hangUp = async () => {
      if (bound) this.thread.release(bound.id);
      // What is said from now on, as our BYE.
      signalling.listen(({ line }) => line !== undefined && recording?.wire([line]));
      // With a record of paid calls, the owner of its capacity ends a call that this did not end.
      await this.session.hangUp?.().catch(() => undefined);
    };
    try {
      const dialled = await this.session.dial({
        signal,
        onStep: (step) => this.onStep(step, performance.now()),
        maxMs: options.plan.maxDurationSeconds * 1_000,
        ...(speak && { speak }),
        bindMedia: async (address, range) => {
          const { port } = (bound = await this.thread.bind(address, range));
          return port;
        },
        onSignal: signalling.say,
        ...(options.plan.listenMs !== undefined && { isTest: true }),
      });
      const before = dialled.found;
      const facts = await this.thread
        .call(
          await this.connectionOf(dialled, bound?.id),
          {
            ...options,
            onIdentified: (id) => void this.call.ledger?.identified(id),
            ...(onAborted && { onAborted: (facts) => onAborted(merged(before, facts, NOTHING)) }),
          },
          (step, at) => {
            if (step === 'ready') options.onStarted?.(at);
            this.onStep(step, at);
          },
          signalling,
        )
        .catch((error: unknown) => {
          throw this.meant(error);
        });
      const found = merged(before, facts, await this.after(merged(before, facts, NOTHING), signal));
      if (!this.session.recorded || options.plan.listenMs !== undefined) return found;
      await hangUp();
      return await this.withRecord(found, options);
    } finally {
      await hangUp();
    }
  }

  private async after(facts: VoiceFacts, signal: AbortSignal): Promise<Found> {
    const isByAgent = facts.end.code === 'agent_hung_up' || facts.end.code === 'connection_closed';
    if (!isByAgent || !this.session.after) return NOTHING;
    const limit = AbortSignal.any([signal, AbortSignal.timeout(AFTER_STREAM_MS)]);
    return this.session.after(facts, limit).catch((error: unknown) => {
      signal.throwIfAborted();
      if (!limit.aborted) throw error;
      return NOTHING;
    });
  }

  private async withRecord(facts: VoiceFacts, { signal, onPiece }: VoiceCallOptions): Promise<VoiceFacts> {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(RECORD_MS)]);
    const found = await this.session.recorded!(limit).catch((error: unknown) => {
      signal.throwIfAborted();
      if (limit.aborted) return `the record of the platform was not complete within ${RECORD_MS / 1_000} s`;
      return `the record of the platform could not be read: ${failureOf(error).message}`;
    });
    signal.throwIfAborted();
    return withRecord(facts, found ?? NOT_FOUND, onPiece !== undefined);
  }

  private meant(error: unknown): unknown {
    if (!(error instanceof CallFailure) || !this.session.refused) return error;
    return new CallFailure(this.session.refused(error.failure));
  }

  /** The addresses are looked up and checked here, and the thread connects to no other ones. */
  private async connectionOf(
    { socket, media, state, answeredAt, sounds }: Dialled,
    ports: number | undefined,
  ): Promise<MediaConnection> {
    const target = socket ? await this.targetOf(socket) : { ...media!, ports: ports! };
    return {
      callId: this.call.callId,
      entry: this.module.entry.href,
      state,
      target,
      shownUrl: socket?.shownUrl ?? this.session.agent.address,
      timeoutMs: CONNECT_TIMEOUT_MS,
      answeredAt: answeredAt === undefined ? undefined : performance.timeOrigin + answeredAt,
      sounds,
    };
  }

  private async targetOf({ url, headers, shownUrl }: DialledSocket): Promise<SocketTarget> {
    const agent = new OtherSide(shownUrl, this.session.secrets.all);
    const addresses = await addressesOf(this.call.client, url, agent);
    return { url, headers, addresses };
  }
}

const merged = (before: Found, facts: VoiceFacts, after: Found): VoiceFacts => ({
  ...facts,
  end: after.end ?? facts.end,
  wireFindings: [...before.findings, ...facts.wireFindings, ...after.findings],
  platformEvents: [...before.events, ...facts.platformEvents, ...after.events],
});
