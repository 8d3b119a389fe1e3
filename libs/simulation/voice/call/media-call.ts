import { FRAME_MS } from '../../../audio/index.js';
import { type Failure, failure } from '../../timeline/failure.js';
import { type JsonValue, sanitizeText } from '../../timeline/text.js';
import { AgentReports } from './agent-reports.js';
import type { BrokenCode } from '../../transports/http/websocket.js';
import { CallerActs } from '../speaking/caller-acts.js';
import { brokenOff, type CallEnd, type Closing, endByClosing, notReady } from './closing.js';
import { CallerLine } from '../speaking/caller-line.js';
import { Ear } from '../hearing/ear.js';
import { HearingLag } from './hearing-lag.js';
import type { PlatformEvent, VoiceFacts } from '../facts/facts.js';
import { Line } from '../facts/line.js';
import { IncomingAudio } from '../hearing/incoming-audio.js';
import type { Wire, WireFactory, WireFormats, WireSide } from '../wire/wire.js';
import { commonFinding } from '../wire/common-findings.js';
import { Mouth } from '../speaking/mouth.js';
import type { VoiceCallPlan } from '../facts/plan.js';
import type { TurnAnswer } from '../facts/turn-question.js';
import { callerPort } from './caller-port.js';
import { Intake } from './intake.js';
import type { MediaCallOptions } from './media-call-options.js';
import { withFindings, wordFindings } from './observed-findings.js';
import { Recorder } from './recorder.js';
import { ThinkingSign } from './thinking-sign.js';
import { TickTiming } from './tick-timing.js';
import { TurnPolicy } from './turn-policy.js';
import { WireFindings } from './wire-findings.js';

/** Maximum time until the platform is ready for audio. */
const READY_MS = 10_000;
/** Tolerance for rounding of clock times: a frame is due if at most this is missing. */
const EPSILON_MS = 1e-6;
const MAX_PLATFORM_EVENTS = 1_000;
const DISCARDED = 'More audio arrived than is kept';

/**
 * One voice call: streams the caller's audio, plays the agent's, decides when the caller acts, and observes. Its driver calls `tick` at
 * least every 20 ms and passes on messages of the agent. A late tick catches up with all frames that are due.
 */
export class MediaCall {
  private readonly wire: Wire;
  private readonly line: Line;
  private readonly lag: HearingLag;
  private readonly callerLine: CallerLine;
  private readonly thinkingSign: ThinkingSign;
  private readonly ear: Ear;
  private readonly mouth: Mouth;
  private incoming: IncomingAudio;
  private readonly intake: Intake;
  private readonly timing = new TickTiming();
  private readonly findings = new WireFindings();
  private readonly platformEvents: PlatformEvent[] = [];
  private readonly reports: AgentReports;
  private readonly recorder: Recorder | undefined;
  private caller!: CallerActs;
  /** Facts about the caller that hearing needs. */
  private callerTimes!: Parameters<Ear['facts']>;
  private policy!: TurnPolicy;
  /** Time of the answer on the driver's clock. */
  private origin = 0;
  private streamStartMs = 0;
  private frame = 0;
  private ended: Pick<VoiceFacts, 'end' | 'failure'> | undefined;
  private observed: VoiceFacts | undefined;
  /** When the connection was opened, on the driver's clock. */
  private openedAt: number | undefined;
  private isReady = false;
  /** Why the call was given up before it began. */
  private isAborted = false;
  private unready: Failure | undefined;
  /** End that the wire requested; it takes effect when the method of the wire returns. */
  private requestedEnd: { readonly end: CallEnd; readonly broken?: Failure } | undefined;

  constructor(
    private readonly plan: VoiceCallPlan,
    wire: WireFactory,
    private readonly options: MediaCallOptions,
  ) {
    this.line = new Line(plan.rate);
    this.ear = new Ear(this.line, options.onPiece);
    this.mouth = new Mouth(this.line.frameSamples);
    this.incoming = new IncomingAudio(this.ear, this.line, plan.rate);
    this.intake = new Intake({ encoding: 'pcm16', rate: plan.rate });
    this.reports = new AgentReports(plan);
    this.recorder = options.recording && new Recorder(options.recording, this.line);
    this.wire = wire(this.side());
    this.lag = new HearingLag(this.wire.lagMs ?? 0);
    this.callerLine = new CallerLine(plan, this.line, this.wire);
    this.thinkingSign = new ThinkingSign(this.wire);
  }

  /** The connection is open. */
  start(now: number): void {
    if (this.isOver) return;
    this.openedAt = now;
    this.wire.open(now);
    this.endAsRequested(now);
    for (const data of this.intake.takeEarly()) this.onMessage(now, data);
  }

  /** The stream starts, and with it the call, unless a prelude has an earlier answer. */
  private begin(now: number, formats: WireFormats | undefined): void {
    if (formats) {
      this.callerLine.format = formats.toAgent;
      this.incoming = new IncomingAudio(this.ear, this.line, formats.fromAgent.rate);
      this.ear.format = this.intake.format = formats.fromAgent;
    }
    if (this.isReady) return;
    const { prelude } = this.options;
    // The gate hears whole frames from the answer on, so the stream starts at the beginning of one.
    this.streamStartMs = prelude ? Math.max(0, Math.ceil((now - prelude.answeredAt) / FRAME_MS)) * FRAME_MS : 0;
    this.origin = now - this.streamStartMs;
    this.caller = new CallerActs(this.mouth, this.line, this.streamStartMs);
    this.callerTimes = this.lag.timesOf(this.caller);
    const { plan, ear, caller, reports, callerTimes: times, streamStartMs } = this;
    const port = callerPort(this.options, { ear, reports, caller, times });
    this.policy = new TurnPolicy({ plan, heard: ear, caller, streamStartMs, port });
    for (const { atMs, pcm } of prelude?.sounds ?? []) this.ear.play(atMs, pcm);
    for (let atMs = 0; atMs < streamStartMs; atMs += FRAME_MS) this.record(null, this.ear.hearFrame());
    this.isReady = true;
    this.recorder?.begin(this.origin);
  }

  /** Sends the frames that are due. */
  tick(now: number): void {
    if (this.isOver) return;
    if (this.openedAt !== undefined) this.wire.tick?.(now);
    this.endAsRequested(now);
    if (!this.isReady) return this.awaitReady(now);
    while (!this.isOver && this.nextDueMs <= this.callTime(now) + EPSILON_MS) {
      this.passFrame(now);
      this.endAsRequested(now);
    }
    if (this.isOver) return;
    this.callerLine.sendDue(now, this.callTime(now) + EPSILON_MS);
    const broken = this.reports.answerTools(this.callTime(now), (...result) => this.wire.toolResult?.(now, ...result));
    if (broken) this.requestedEnd ??= brokenOff(broken);
    this.ear.advance(this.callTime(now));
    this.endAsRequested(now);
  }

  /** The caller's answer to a question. */
  answer(answer: TurnAnswer): void {
    if (this.isReady && !this.isOver) this.policy.answer(answer);
  }

  /** A message of the agent. */
  onMessage(now: number, data: string | Uint8Array): void {
    if (this.isOver) return;
    const callMs = this.isReady ? this.callTime(now) : 0;
    if (this.openedAt === undefined) this.intake.keepEarly(data);
    else this.intake.message(now, data, callMs, () => this.wire.message(now, data));
    this.endIfTooMuch(now);
  }

  /** Frames of the connection that carry no message. */
  onFrames(now: number, kind: 'control' | 'continuation', count: number): void {
    if (this.isOver) return;
    this.intake.frames(now, kind, count);
    this.endIfTooMuch(now);
  }

  /** What the signalling of the call said. */
  onSignal(now: number, message: JsonValue): void {
    if (this.isOver) return;
    this.wire.signal?.(now, message);
    this.endAsRequested(now);
  }

  /** What the connection noticed beside messages. */
  onNoted(now: number, what: string): void {
    if (!this.isOver) this.wire.noted?.(now, what);
  }

  /** Reading from the agent paused, because too much had arrived at once. */
  onPaused(from: number, to: number): void {
    if (this.isReady && !this.isOver) this.timing.paused(this.callTime(from), to - from);
  }

  /** The connection failed, or the agent broke its protocol or a limit. @param what in a few words */
  onBroken(now: number, what: string, code: BrokenCode = 'connection_lost'): void {
    this.tick(now);
    if (this.isOver) return;
    this.findings.add({
      ...commonFinding('broken_websocket', `The connection ended: ${what}`),
      atMs: this.isReady ? this.callTime(now) : 0,
    });
    const isUnready = code === 'connection_lost' && !this.isReady;
    this.requestedEnd = brokenOff(failure(isUnready ? 'not_ready' : code, what));
    this.endAsRequested(now);
  }

  /** The agent has hung up, or the connection broke off. */
  onClose(now: number, closing: Closing): void {
    this.tick(now);
    if (this.isOver) return;
    this.wire.closed?.(now, closing.code, closing.reason);
    this.endAsRequested(now);
    if (this.isOver) return;
    this.requestedEnd = endByClosing(closing, this.isReady);
    this.endAsRequested(now);
  }

  /** The tester gives up the call. The recording so far is passed on. */
  abort(now: number): void {
    if (this.isOver) return;
    if (this.isReady) return this.finish(now, { by: 'tester', code: 'failure', reason: 'The call was aborted' });
    this.isAborted = true;
    this.stop(now);
  }

  get isOver(): boolean {
    return this.isAborted || this.ended !== undefined;
  }

  /** Whether call time 0 has come. */
  get isBegun(): boolean {
    return this.isReady;
  }

  /** Stream time 0, on the driver's clock. */
  get startedAt(): number {
    return this.origin + this.streamStartMs - this.lag.ms;
  }

  /** Whether the agent exceeded a limit on what it sends or makes the call keep. */
  get hasTooMuch(): boolean {
    return (this.unready ?? this.ended?.failure)?.code === 'answer_too_large';
  }

  /** Approximate memory that the agent causes: heard audio, audio to be played, and messages not logged yet. */
  get bytes(): number {
    return this.intake.bytes + this.ear.bytes + this.reports.bytes + (this.recorder?.bytes ?? 0);
  }

  /** Why there was no call: it ended before the platform was ready. */
  get failure(): Failure | undefined {
    return this.unready;
  }

  /** The facts of the call. @throws Error before the call is over */
  facts(): VoiceFacts {
    if (!this.ended) throw new Error('The call is not over.');
    return (this.observed ??= this.observe(this.ended));
  }

  private observe(ended: Pick<VoiceFacts, 'end' | 'failure'>): VoiceFacts {
    const { atMs } = ended.end;
    const thinking = this.policy.thoughtUntil(atMs);
    const observed = {
      caller: this.caller.until(atMs),
      ...this.ear.facts(...this.callerTimes),
      ...(this.streamStartMs > 0 && { streamStartMs: this.streamStartMs }),
      agentTurns: this.policy.agentTurns(atMs),
      silences: this.policy.silencesUntil(atMs),
      ...(thinking.length > 0 && { thinking }),
      ...ended,
      answeredTurns: this.policy.answeredTurns,
      ...this.reports.facts,
      platformEvents: this.platformEvents,
      timing: this.timing.result(),
    };
    return withFindings(this.lag.moved(observed, this.wire.lineGaps?.()), (facts) =>
      this.findings.with([...wordFindings(facts), ...(this.wire.review?.(facts) ?? [])]).list(),
    );
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
    this.incoming.advance(dueMs - FRAME_MS);
    const heard = this.ear.hearFrame();
    this.policy.decide(dueMs, dueMs - FRAME_MS);
    this.thinkingSign.show(now, dueMs, this.policy.isThinking);
    for (const { digit } of this.caller.dueKeys(dueMs)) this.wire.key?.(now, digit);
    const sound = this.mouth.frame(this.frame);
    this.timing.frame(dueMs, this.callTime(now) - dueMs, sound !== null);
    const sent = this.callerLine.pass(now, dueMs, this.frame, sound, heard);
    this.record(this.lag.beside(sent), heard);
    this.frame++;
    if (this.policy.end) this.finish(now, this.policy.end, this.policy.failure ?? this.reports.lateAt(this.policy.end));
  }

  private finish(now: number, end: CallEnd, broken?: Failure): void {
    const late = end.by === 'agent' ? [] : this.lag.rest();
    for (const sent of late) this.record(sent, this.ear.hearFrame());
    const heardUntilMs = this.nextDueMs + (late.length - 1) * FRAME_MS;
    // If the caller ends the call, it ends with a frame.
    const isOfFrame = end.by !== 'agent' && (!broken || this.policy.failure !== undefined);
    const atMs = !isOfFrame ? Math.max(heardUntilMs, this.callTime(now)) : heardUntilMs;
    const rest = this.ear.finish(atMs);
    this.recorder?.audio(this.line.samplesOf(atMs - heardUntilMs), null, rest);
    this.ended = { end: { ...end, atMs }, ...(broken && { failure: broken }) };
    this.callerLine.sendDue(now, Infinity);
    this.stop(now);
  }

  private stop(now: number): void {
    if (this.openedAt !== undefined) this.wire.stop(now);
    // Before the call has begun, times count from the connection.
    this.recorder?.begin(this.openedAt ?? 0);
    this.recorder?.flush();
  }

  private record(caller: Int16Array | null, agent: Int16Array): void {
    this.recorder?.audio(this.line.frameSamples, caller, agent);
  }

  private awaitReady(now: number): void {
    if (this.isOver || this.openedAt === undefined || now - this.openedAt < READY_MS) return;
    this.giveUp(now, notReady(READY_MS, this.wire.received?.()));
  }

  /** Ends a call that has not begun. */
  private giveUp(now: number, cause: Failure): void {
    this.unready = cause;
    this.abort(now);
  }

  private endIfTooMuch(now: number): void {
    const tooMuch = this.intake.tooMuch(this.bytes);
    if (tooMuch !== undefined) {
      this.timing.forgetPauses();
      this.requestedEnd = brokenOff(failure('answer_too_large', tooMuch));
    }
    this.endAsRequested(now);
  }

  private endAsRequested(now: number): void {
    const requested = this.requestedEnd;
    if (!requested || this.isOver) return;
    const { end, broken } = requested;
    if (this.isReady) return this.finish(now, end, broken);
    this.giveUp(now, broken ?? failure('not_ready', end.reason));
  }

  private side(): WireSide {
    const { ear, findings, intake, platformEvents, recorder, reports } = this;
    // Events before the call count as if they happened at its beginning.
    const at = (now: number) => (this.isReady ? this.callTime(now) : 0);
    return {
      send: this.options.send,
      ready: (now, formats) => this.begin(now, formats),
      play: (now, pcm, item) => {
        intake.heard(pcm.length);
        if (this.isReady) ear.lineEndMs = this.callerTimes[1](at(now));
        const before = ear.discardedMs;
        this.incoming.play(at(now), pcm, item);
        if (ear.discardedMs > before) findings.add({ ...commonFinding('media_discarded', DISCARDED), atMs: at(now) });
      },
      late: (now, pcm) => [recorder, ear].forEach((one) => one?.late(at(now), pcm)),
      clear: (now, upTo) => {
        intake.was('clear');
        return this.incoming.clear(at(now), upTo);
      },
      mark: (now, onPlayed) =>
        intake.mark(
          (ended) => ear.mark(at(now), ended),
          (playedMs) => onPlayed(this.isReady ? this.origin + playedMs : now),
        ),
      bufferedMs: (now) => ear.bufferedMs(at(now)),
      heardOfItem: (item, now) => ear.heardOfItem(item, at(now)),
      said: (now, text, of) => {
        if (this.plan.listenMs !== undefined) this.requestedEnd ??= { end: HEARD };
        reports.say(at(now), text, of);
      },
      identified: (_now, id) => this.options.onIdentified?.(id),
      heardCaller: (now, text) => reports.hearCaller(at(now), text),
      toolCall: (now, call) =>
        reports.callTool(at(now), call, this.wire.toolResult !== undefined && call.json !== null),
      hangUp: (_now, reason, code = 'agent_hung_up') => {
        this.requestedEnd ??= { end: { by: 'agent', code, reason } };
      },
      failed: (_now, broken) => {
        this.requestedEnd ??= brokenOff(broken);
      },
      finding: (now, { detail, ...finding }) => {
        intake.was('ignored');
        findings.add({ ...finding, detail: sanitizeText(detail), atMs: at(now) });
      },
      event: (now, event) => {
        if (platformEvents.length < MAX_PLATFORM_EVENTS) platformEvents.push({ ...event, atMs: at(now) });
      },
      log: (now, direction, message) => recorder?.wire(now, direction, message),
      isLogged: recorder !== undefined,
      turnEnded: (now) => ear.turnEnded(at(now)),
    };
  }
}

/** End of a connection test that has heard the agent. */
const HEARD: CallEnd = { by: 'caller', code: 'caller_done', reason: 'The agent was heard' };
