import { encodeMulaw } from '../../audio/index.js';
import { failure } from '../failure.js';
import { CallerActs } from './caller-acts.js';
import { CallerLine } from './caller-line.js';
import { Ear } from './ear.js';
import type { MediaTiming, PlatformEvent, Span, VoiceFacts } from './facts.js';
import { FRAME_MS, FRAME_SAMPLES, samplesOf } from './frames.js';
import { heardAtTheEarliest } from './measures/index.js';
import type { MediaProtocol, MediaProtocolFactory, MediaSide, RecordingSink } from './media.js';
import { Mouth } from './mouth.js';
import type { VoiceCallPlan } from './plan.js';
import { Recorder } from './recorder.js';
import { TickTiming } from './tick-timing.js';
import { TurnPolicy } from './turn-policy.js';
import { WireFindings } from './wire-findings.js';

/** Clock times with fractions are rounded: a frame is due if no more than this is missing. */
const EPSILON_MS = 1e-6;
const MAX_PLATFORM_EVENTS = 1_000;
/** Codes of RFC 6455, section 7.4.1, with which an agent that hangs up closes its connection; 1005 is none at all. */
const HANG_UP_CODES: ReadonlySet<number> = new Set([1000, 1001, 1005]);

export interface MediaCallOptions {
  /** Sends a message to the agent. */
  readonly send: (data: string | Uint8Array) => void;
  readonly recording?: RecordingSink;
  /** What happened between the answer and the start of the stream. */
  readonly prelude?: Prelude;
}

export interface Prelude {
  /** The answer, on the clock of the driver. */
  readonly answeredAt: number;
  /** What the platform played for the agent, in mu-law; times are milliseconds from the answer, in order. */
  readonly sounds: readonly { readonly atMs: number; readonly mulaw: Uint8Array }[];
}

/** How a connection was closed (RFC 6455, section 7.4). */
export interface Closing {
  readonly code: number;
  readonly reason: string;
}

/**
 * One call with sound: streams the caller's sound, plays the agent's, decides when the caller acts and observes what
 * happens. It has no thread, timer or socket; its driver calls `tick` at least every 20 ms and passes on what the agent
 * sends. `now` is the driver's clock in milliseconds. A late tick catches up with all frames that are due.
 */
export class MediaCall {
  private readonly protocol: MediaProtocol;
  private readonly line: CallerLine;
  private readonly ear = new Ear();
  private readonly mouth = new Mouth();
  private readonly timing = new TickTiming();
  private readonly findings = new WireFindings();
  private readonly platformEvents: PlatformEvent[] = [];
  private readonly recorder: Recorder | undefined;
  private caller!: CallerActs;
  private policy!: TurnPolicy;
  /** The answer, on the driver's clock. */
  private origin = 0;
  private streamStartMs = 0;
  /** Number of the next frame. */
  private frame = 0;
  private ended: Pick<VoiceFacts, 'end' | 'failure'> | undefined;
  private observed: VoiceFacts | undefined;
  private isStarted = false;
  /** Given up before it began. */
  private isAborted = false;

  constructor(
    private readonly plan: VoiceCallPlan,
    protocol: MediaProtocolFactory,
    private readonly options: MediaCallOptions,
  ) {
    this.recorder = options.recording && new Recorder(options.recording);
    this.protocol = protocol(this.side());
    this.line = new CallerLine(plan, this.protocol);
  }

  /** The connection is open: the stream starts, and with it the call, unless a prelude says that it was answered before. */
  start(now: number): void {
    const { prelude } = this.options;
    // The gate hears whole frames from the answer on, so the stream starts with one.
    this.streamStartMs = prelude ? Math.max(0, Math.ceil((now - prelude.answeredAt) / FRAME_MS)) * FRAME_MS : 0;
    this.origin = now - this.streamStartMs;
    this.caller = new CallerActs(this.mouth, this.streamStartMs);
    const { plan, ear: heard, caller, streamStartMs } = this;
    this.policy = new TurnPolicy({ plan, heard, caller, streamStartMs });
    for (const { atMs, mulaw } of prelude?.sounds ?? []) this.ear.play(atMs, mulaw);
    for (let atMs = 0; atMs < streamStartMs; atMs += FRAME_MS) this.record(FRAME_SAMPLES, null, this.ear.hearFrame());
    this.isStarted = true;
    this.protocol.open(now);
  }

  /** Sends the frames that are due. */
  tick(now: number): void {
    while (!this.isOver && this.nextDueMs <= this.callTime(now) + EPSILON_MS) this.passFrame(now);
    if (this.isOver) return;
    this.line.sendDue(now, this.callTime(now) + EPSILON_MS);
    this.ear.advance(this.callTime(now));
  }

  /** When the next frame is due, on the driver's clock. */
  get nextTickAt(): number {
    return this.origin + Math.min(this.nextDueMs, this.line.nextDueMs);
  }

  /** A message of the agent. */
  onMessage(now: number, data: string | Uint8Array): void {
    if (!this.isOver) this.protocol.message(now, data);
  }

  /** Sound that the platform plays for the agent outside the stream, in mu-law. */
  playForAgent(now: number, mulaw: Uint8Array): void {
    if (!this.isOver) this.ear.play(this.callTime(now), mulaw);
  }

  /** The agent has closed the connection: it hangs up, or the connection broke off. */
  onClose(now: number, closing: Closing): void {
    this.tick(now);
    if (this.isOver) return;
    const reason = closing.reason === '' ? '' : `: ${closing.reason}`;
    if (HANG_UP_CODES.has(closing.code)) {
      this.finish(now, { by: 'agent', code: 'agent_hung_up', reason: `The agent hung up${reason}` });
    } else {
      const broken = failure('connection_lost', `closed with code ${closing.code}${reason}`);
      this.finish(now, { by: 'tester', code: 'failure', reason: broken.message }, broken);
    }
  }

  /** The tester gives the call up; what was recorded is passed on. */
  abort(now: number): void {
    if (this.isOver) return;
    if (this.isStarted) return this.finish(now, { by: 'tester', code: 'failure', reason: 'The call was aborted' });
    this.isAborted = true;
    this.protocol.stop(now);
  }

  get isOver(): boolean {
    return this.isAborted || this.ended !== undefined;
  }

  /** What was observed. @throws Error before the call is over */
  facts(): VoiceFacts {
    if (!this.ended) throw new Error('The call is not over.');
    return (this.observed ??= this.observe(this.ended));
  }

  private observe(ended: Pick<VoiceFacts, 'end' | 'failure'>): VoiceFacts {
    const { atMs } = ended.end;
    const timing = this.timing.result();
    const heard = this.ear.facts(
      (at) => this.caller.turnAt(at),
      (at) => this.caller.lineEndBefore(at),
    );
    const isStalled = (underrun: Span) => isStalledIn(timing, underrun);
    const observed = {
      caller: this.caller.until(atMs),
      ...heard,
      underruns: heard.underruns.filter((underrun) => !isStalled(underrun)),
      agentTurns: this.policy.agentTurns(atMs),
      silences: this.policy.silencesUntil(atMs),
      ...ended,
      answeredTurns: this.policy.answeredTurns,
      platformEvents: this.platformEvents,
      timing,
    };
    const findingsOf = (facts: Omit<VoiceFacts, 'wireFindings'>) =>
      this.findings.with(this.protocol.review?.(facts) ?? []).list();
    const facts = { ...observed, wireFindings: findingsOf(observed) };
    if (timing.stalls.length === 0) return facts;
    const underruns = heard.underruns.filter(isStalled);
    const certain = findingsOf(heardAtTheEarliest({ ...facts, stalled: { underruns, findings: [] } }));
    const doubtful = facts.wireFindings.filter((finding) => !certain.some(({ code }) => code === finding.code));
    return { ...facts, stalled: { underruns, findings: doubtful.map(({ code }) => code) } };
  }

  private get nextDueMs(): number {
    return this.streamStartMs + (this.frame + 1) * FRAME_MS;
  }

  private callTime(now: number): number {
    return now - this.origin;
  }

  /** Hears and speaks one frame. */
  private passFrame(now: number): void {
    const dueMs = this.nextDueMs;
    const heard = this.ear.hearFrame();
    this.policy.decide(dueMs, dueMs - FRAME_MS);
    for (const { digit } of this.caller.dueKeys(dueMs)) this.protocol.key(now, digit);
    const sound = this.mouth.frame(this.frame);
    this.timing.frame(dueMs, this.callTime(now) - dueMs, sound !== null);
    const payload = this.line.pass(now, dueMs, this.frame, sound, heard);
    this.record(FRAME_SAMPLES, payload, heard);
    this.frame++;
    if (this.policy.end) this.finish(now, this.policy.end);
  }

  private finish(now: number, end: Omit<VoiceFacts['end'], 'atMs'>, broken?: VoiceFacts['failure']): void {
    const heardUntilMs = this.nextDueMs - FRAME_MS;
    // What the caller ends, ends with a frame.
    const atMs = end.by === 'agent' || broken ? Math.max(heardUntilMs, this.callTime(now)) : heardUntilMs;
    const rest = this.ear.finish(atMs);
    this.record(samplesOf(atMs - heardUntilMs), null, rest);
    this.ended = { end: { ...end, atMs }, ...(broken && { failure: broken }) };
    this.line.sendDue(now, Infinity);
    this.protocol.stop(now);
    this.recorder?.flush();
  }

  private record(length: number, caller: Uint8Array | null, agent: Int16Array): void {
    this.recorder?.audio(length, caller, encodeMulaw(agent));
  }

  private side(): MediaSide {
    const { ear, findings, platformEvents, recorder } = this;
    const at = (now: number) => this.callTime(now);
    return {
      send: this.options.send,
      play: (now, mulaw) => ear.play(at(now), mulaw),
      clear: (now) => ear.clear(at(now)),
      mark: (now, onPlayed) => ear.mark(at(now), (playedMs) => onPlayed(this.origin + playedMs)),
      bufferedMs: (now) => ear.bufferedMs(at(now)),
      finding: (now, finding) => findings.add({ ...finding, atMs: at(now) }),
      event: (now, event) => {
        if (platformEvents.length < MAX_PLATFORM_EVENTS) platformEvents.push({ ...event, atMs: at(now) });
      },
      log: (now, direction, message) => recorder?.wire(at(now), direction, message),
      isLogged: recorder !== undefined,
      turnEnded: (now) => ear.turnEnded(at(now)),
    };
  }
}

/** Whether the tester stalled in a span, or so shortly before that it read messages late. */
const isStalledIn = ({ stalls }: MediaTiming, { startMs, endMs }: Span): boolean =>
  stalls.some(({ at, ms }) => at - FRAME_MS < endMs && at + ms > startMs - FRAME_MS);
