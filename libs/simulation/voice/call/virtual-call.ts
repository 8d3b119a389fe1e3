import { type LineRate, TELEPHONE_RATE } from '../../../audio/index.js';
import { setImmediate } from 'node:timers/promises';
import type { VoiceFacts } from '../facts/facts.js';
import type { InProcessMediaAgentFactory } from './in-process-agent.js';
import type { Closing } from './closing.js';
import { MediaCall } from './media-call.js';
import { OtherSide } from '../../other-side/other-side.js';
import type { SentSecrets } from '../../other-side/secrets.js';
import { CallFailure } from '../../timeline/failure.js';
import type { JsonValue } from '../../timeline/text.js';
import type { VoiceCallOptions, VoiceTransport } from '../wire/voice-transport.js';
import type { WireFactory } from '../wire/wire.js';

/** Virtual time between two steps of both sides. */
const STEP_MS = 10;
/** Number of steps after which the event loop gets a turn. */
const STEPS_BETWEEN_YIELDS = 3_000;

export interface VirtualCallOptions {
  readonly wire: WireFactory;
  readonly lineRate?: LineRate;
  /** `heard` by default. */
  readonly clock?: VoiceTransport['clock'];
  /** Secrets to remove from what the agent says, as on a call over a socket. */
  readonly secrets?: SentSecrets;
  /** Answers each call. */
  readonly agent: InProcessMediaAgentFactory;
  /**
   * Spans in which the tester does nothing while the agent continues, to test how it treats its own faults. `unreadMs`: how long
   * nothing is read afterwards.
   */
  readonly stalls?: readonly { readonly atMs: number; readonly ms: number; readonly unreadMs?: number }[];
}

/** Calls an agent in this process in virtual time: deterministic, and a minute takes only milliseconds. */
export function virtualCalls(options: VirtualCallOptions): VoiceTransport {
  const { lineRate = TELEPHONE_RATE, clock = 'heard', secrets } = options;
  return {
    name: 'in-process-voice',
    clock,
    lineRate,
    ...(secrets && { secrets }),
    call: (call) => new VirtualCall(options, call).run(),
  };
}

class VirtualCall {
  private readonly call: MediaCall;
  private readonly agent;
  private toAgent: (string | Uint8Array)[] = [];
  private toCaller: (string | Uint8Array)[] = [];
  private signals: JsonValue[] = [];
  private closing: Closing | undefined;

  constructor(
    private readonly options: VirtualCallOptions,
    private readonly callOptions: VoiceCallOptions,
  ) {
    const { plan, recording, onPiece } = callOptions;
    this.call = new MediaCall(plan, options.wire, {
      send: (data) => this.toAgent.push(data),
      onTurn: (question) => callOptions.onTurn?.(question, (answer) => this.call.answer(answer)),
      ...(recording && { recording }),
      onPiece,
    });
    const agent = new OtherSide('', options.secrets?.all ?? []);
    this.agent = options.agent({
      send: (data) => {
        if (!this.closing) this.toCaller.push(data);
      },
      signal: (message) => this.signals.push(message),
      close: (code = 1000, reason = '') => (this.closing ??= { code, reason: agent.excerpt(reason) }),
    });
  }

  async run(): Promise<VoiceFacts> {
    const { signal, onHangUp, plan, clock } = this.callOptions;
    this.call.start(0);
    let now = 0;
    for (let step = 1; !this.call.isOver; step++) {
      if (step % STEPS_BETWEEN_YIELDS === 0) await setImmediate();
      if (signal.aborted) {
        this.call.abort(now);
        if (this.call.isBegun) this.callOptions.onAborted?.(this.call.facts());
        throw signal.reason;
      }
      this.step(now);
      now += STEP_MS;
      // The caller thinks on its own clock.
      if (plan.asked && !this.call.isOver) await clock?.sleep(STEP_MS);
    }
    for (const data of this.toAgent) this.agent.onMessage(now, data);
    this.agent.onClose?.(now);
    onHangUp?.();
    if (this.call.failure) throw new CallFailure(this.call.failure);
    return this.call.facts();
  }

  private step(now: number): void {
    const { stalls = [] } = this.options;
    if (!stalls.some(({ atMs, ms }) => now >= atMs && now < atMs + ms)) this.call.tick(now);
    const sent = this.toAgent;
    this.toAgent = [];
    for (const data of sent) this.agent.onMessage(now, data);
    this.agent.tick(now);
    if (stalls.some(({ atMs, ms, unreadMs = 0 }) => now >= atMs && now < atMs + ms + unreadMs)) return;
    const received = this.toCaller;
    this.toCaller = [];
    for (const data of received) this.call.onMessage(now, data);
    for (const message of this.signals.splice(0)) this.call.onSignal(now, message);
    if (this.closing) this.call.onClose(now, this.closing);
  }
}
