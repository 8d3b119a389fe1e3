import { setImmediate } from 'node:timers/promises';
import type { VoiceFacts } from './facts.js';
import type { InProcessMediaAgentFactory } from './in-process-agent.js';
import { type Closing, MediaCall } from './media-call.js';
import type { MediaProtocolFactory, VoiceCallOptions, VoiceTransport } from './media.js';

/** Virtual time between two steps of both sides. */
const STEP_MS = 10;
/** Number of steps after which other work of the process runs. */
const STEPS_BETWEEN_YIELDS = 3_000;

export interface VirtualCallOptions {
  readonly protocol: MediaProtocolFactory;
  /** Answers each call. */
  readonly agent: InProcessMediaAgentFactory;
  /** Times in which the tester does nothing, to test how it treats its own faults; the agent goes on. */
  readonly stalls?: readonly { readonly atMs: number; readonly ms: number }[];
}

/** Calls an agent in this process on virtual time: deterministic, and a minute takes some milliseconds. */
export function virtualCalls(options: VirtualCallOptions): VoiceTransport {
  return { name: 'in-process-voice', call: (call) => new VirtualCall(options, call).run() };
}

class VirtualCall {
  private readonly call: MediaCall;
  private readonly agent;
  private toAgent: (string | Uint8Array)[] = [];
  private toCaller: (string | Uint8Array)[] = [];
  private closing: Closing | undefined;

  constructor(
    private readonly options: VirtualCallOptions,
    private readonly callOptions: VoiceCallOptions,
  ) {
    const { plan, recording } = callOptions;
    this.call = new MediaCall(plan, options.protocol, {
      send: (data) => this.toAgent.push(data),
      ...(recording && { recording }),
    });
    this.agent = options.agent({
      send: (data) => {
        if (!this.closing) this.toCaller.push(data);
      },
      close: (code = 1000, reason = '') => (this.closing ??= { code, reason }),
    });
  }

  async run(): Promise<VoiceFacts> {
    const { signal, onHangUp } = this.callOptions;
    this.call.start(0);
    let now = 0;
    for (let step = 1; !this.call.isOver; step++) {
      if (step % STEPS_BETWEEN_YIELDS === 0) await setImmediate();
      if (signal.aborted) {
        this.call.abort(now);
        this.callOptions.onAborted?.(this.call.facts());
        throw signal.reason;
      }
      this.step(now);
      now += STEP_MS;
    }
    for (const data of this.toAgent) this.agent.onMessage(now, data);
    this.agent.onClose?.(now);
    onHangUp?.();
    return this.call.facts();
  }

  private step(now: number): void {
    const isStalled = this.options.stalls?.some(({ atMs, ms }) => now >= atMs && now < atMs + ms) ?? false;
    if (!isStalled) this.call.tick(now);
    const sent = this.toAgent;
    this.toAgent = [];
    for (const data of sent) this.agent.onMessage(now, data);
    this.agent.tick(now);
    if (isStalled) return;
    const received = this.toCaller;
    this.toCaller = [];
    for (const data of received) this.call.onMessage(now, data);
    if (this.closing) this.call.onClose(now, this.closing);
  }
}
