import { AudioDecoder, type AudioFormat, bytesPerSecond } from '../../../../audio/index.js';
import { type FailureCode, failure } from '../../../timeline/failure.js';
import type { VoiceFacts, WireFinding } from '../../../voice/facts/facts.js';
import type { Wire, WireEntry, WireSide, WireState } from '../../../voice/wire/wire.js';
import { HANG_UP_TOOLS } from '../../text/hang-up.js';
import { JsonAudioWire } from '../json-audio-wire.js';
import { EncodingStatistic } from '../encoding-statistic.js';
import { summary } from '../json-wire.js';
import { realtimeFinding, type REALTIME_FINDINGS } from './findings.js';
import { type AudioItem, Items } from './items.js';
import { type PlatformError, readEvent, type RequestedCall, type ResponseEnd, type ServerEvent } from './messages.js';
import { Moments, reviewCall } from './review.js';
import { ToolCalls, type ToolOutputs } from './tool-calls.js';

export interface RealtimeState extends WireState {
  /** Of the first `session.update`. */
  readonly session: object;
  /** The same for a session that was created with the fields before general availability. */
  readonly flat: object;
  /** Whether the agent is asked to speak first. */
  readonly greets: boolean;
}

type Of<Type extends ServerEvent['type']> = Extract<ServerEvent, { type: Type }>;

/** Errors that end the session, and whose fault they are; others are findings. */
const FATAL: ReadonlyMap<string, FailureCode> = new Map([
  ['rate_limit_exceeded', 'rate_limited'],
  ['insufficient_quota', 'platform_refused'],
  ['session_expired', 'agent_error'],
]);
/** Older ones are forgotten: nothing of them arrives any more. */
const MAX_INTERRUPTED = 1_000;
const TELEPHONE: AudioFormat = { encoding: 'mulaw', rate: 8_000 };
const PCM: AudioFormat = { encoding: 'pcm16', rate: 24_000 };
/** A server that has not created its session by then is asked without. */
const CREATED_MS = 1_000;
/** Bytes of one message whose encoding is looked at: other calls wait for it. */
const MAX_INSPECTED = 480_000;
/** The agent was asked to go on while it did so already: nothing is lost. */
const HARMLESS = 'conversation_already_has_active_response';

export default ((state) => (side) => new RealtimeWire(state, side)) satisfies WireEntry<RealtimeState>;

class RealtimeWire extends JsonAudioWire<ServerEvent> implements Wire {
  private readonly items = new Items();
  private readonly tools = new ToolCalls();
  private readonly moments = new Moments();
  private readonly asked: AudioFormat;
  private format = TELEPHONE;
  private decoder = new AudioDecoder(this.format);
  private encoding = new EncodingStatistic();
  /** Whether the session has named the format of the agent's audio. */
  private isNamed = false;
  private hasOldNames = false;
  private openedAt = 0;
  /** Whether the session was created, and whether it was updated before. */
  private isCreated = false;
  private isAsked = false;
  private isInterruptible = true;
  /** The response that goes on, and those that the caller has interrupted: nothing more of them is heard. */
  private response: string | undefined;
  private readonly interrupted = new Set<string>();
  private hasCallerSpoken = false;
  /** The agent has called a tool to hang up. */
  private hangsUp = false;

  constructor(
    private readonly state: RealtimeState,
    side: WireSide,
  ) {
    super(side, state.secrets, TELEPHONE);
    const { audio } = state.session as { audio?: { input?: { format?: { type?: string } } } };
    this.asked = audio?.input?.format?.type === 'audio/pcm' ? PCM : TELEPHONE;
  }

  open(now: number): void {
    this.openedAt = now;
  }

  tick(now: number): void {
    if (!this.isAsked && now - this.openedAt >= CREATED_MS) this.ask(now, false);
  }

  toolResult(now: number, id: string, json: string): void {
    this.answer(now, this.tools.answered(id, json));
  }

  // The platform closes a connection by itself only at an error or at the limit of a session.
  stop(): void {
    this.hangsUp = false;
  }

  review(facts: Omit<VoiceFacts, 'wireFindings'>): readonly WireFinding[] {
    return reviewCall(facts, this.moments);
  }

  protected audioMessage(audio: unknown): object {
    return { type: 'input_audio_buffer.append', audio };
  }

  protected read(text: string): ServerEvent {
    return readEvent(text);
  }

  protected invalid(detail: string) {
    return realtimeFinding('invalid_message', detail);
  }

  protected obey(now: number, event: Exclude<ServerEvent, Of<'invalid'>>): void {
    switch (event.type) {
      case 'session.created':
        // What was sent before may be lost.
        if (!this.isCreated) this.ask(now, event.isFlat);
        this.isCreated = true;
        return;
      case 'session.updated':
        return this.ready(now, event);
      case 'response.created':
        this.response = event.responseId;
        this.hasCallerSpoken = false;
        return this.moments.note('responses', this.callTime(now));
      case 'response.done':
        return this.responseDone(now, event.responseId, event.end);
      case 'audio':
        return this.audio(now, event);
      case 'words':
        if (event.isWhole) this.items.takeWords(event.itemId);
        else this.items.addWords(event.itemId, event.text);
        return this.said(now, event.itemId, event.text, event.isWhole);
      case 'item':
        return event.name === undefined ? undefined : this.items.name(event.itemId, event.name);
      case 'tool_call':
        return this.toolCall(now, event.responseId, event.itemId, event.call);
      case 'heard':
        return this.side.heardCaller(now, event.text);
      case 'speech_started':
        return this.speechStarted(now);
      case 'speech_stopped':
        return this.moments.note('speechStopped', this.callTime(now));
      case 'rate_limits':
        for (const limit of event.exhausted) this.report(now, 'rate_limit_reached', this.platform.excerpt(limit));
        return;
      case 'error':
        return this.failed(now, event.error);
      case 'other':
        return;
    }
  }

  /** A server refuses the fields of the version that it does not have. */
  private ask(now: number, isFlat: boolean): void {
    this.isAsked = true;
    this.send(now, { type: 'session.update', session: isFlat ? this.state.flat : this.state.session });
  }

  private ready(now: number, { toAgent, fromAgent, isFlat, isInterruptible }: Of<'session.updated'>): void {
    this.isInterruptible = isInterruptible;
    if (this.readyAt !== undefined) return;
    if (typeof toAgent === 'string' || typeof fromAgent === 'string') {
      const what = `audio format ${[toAgent, fromAgent].filter((format) => typeof format === 'string').join(', ')}`;
      return this.side.failed(now, failure('not_ready', this.platform.describe({ what })));
    }
    this.isNamed = fromAgent !== undefined;
    this.readyAt = now;
    const usual = isFlat ? PCM : this.asked;
    this.use(now, toAgent ?? fromAgent ?? usual, fromAgent ?? usual);
    if (this.state.greets) this.send(now, { type: 'response.create' });
  }

  private use(now: number, toAgent: AudioFormat, fromAgent: AudioFormat): void {
    this.toAgent = toAgent;
    this.format = fromAgent;
    this.decoder = new AudioDecoder(fromAgent);
    this.encoding = new EncodingStatistic();
    const { asked } = this;
    for (const { encoding, rate } of [toAgent, fromAgent]) {
      if (encoding === asked.encoding && rate === asked.rate) continue;
      this.report(now, 'other_format', `The session has ${encoding} at ${rate} Hz`);
    }
    this.side.ready(now, { toAgent, fromAgent });
  }

  private audio(now: number, { itemId, responseId, contentIndex, base64, isOld }: Of<'audio'>): void {
    const bytes = Buffer.from(base64, 'base64');
    this.log(now, 'received', () => ({
      type: 'response.output_audio.delta',
      item_id: this.platform.excerpt(itemId),
      delta: summary(bytes),
    }));
    if (this.interrupted.has(responseId)) return;
    // Half a sample at the end of an item must not shift the next one.
    const item = this.items.of(itemId);
    if (item.receivedMs === 0) {
      this.decoder = new AudioDecoder(this.format);
      this.encoding = new EncodingStatistic();
    }
    this.look(now, bytes, isOld);
    item.contentIndex = contentIndex;
    item.receivedMs += (bytes.length * 1_000) / bytesPerSecond(this.format);
    this.side.play(now, this.decoder.push(bytes), item.number);
  }

  /** What the session does not name, its events and bytes show. */
  private look(now: number, bytes: Uint8Array, isOld: boolean): void {
    if (isOld && !this.hasOldNames && !this.isNamed && this.readyAt !== undefined) this.use(now, PCM, PCM);
    this.hasOldNames ||= isOld;
    const isPcm = this.format.encoding === 'pcm16';
    const seen = this.encoding.add(bytes.subarray(0, MAX_INSPECTED));
    if (seen === undefined || (seen === 'pcm16') === isPcm) return;
    const other = isPcm ? TELEPHONE : PCM;
    if (!this.isNamed) return this.use(now, other, other);
    this.report(now, 'wrong_encoding', `The bytes are ${seen}, and the session has ${this.format.encoding}`);
  }

  /** The platform stops generating; what was not played yet must be dropped here, and the platform must know of it. */
  private speechStarted(now: number): void {
    this.moments.note('speechStarted', this.callTime(now));
    this.hasCallerSpoken = true;
    const { last } = this.items;
    if (!this.isInterruptible) return;
    if (this.response) this.interrupt(this.response);
    // The caller has more to say after a goodbye.
    this.hangsUp = false;
    if (!last || (this.side.bufferedMs(now) <= 0 && this.response === undefined)) return;
    const heardMs = ({ number, receivedMs }: AudioItem) => Math.min(this.side.heardOfItem(number, now), receivedMs);
    const cut = this.items.unplayed(heardMs).filter(({ receivedMs }) => receivedMs > 0);
    const places = cut.map((item) => ({ ...item, heardMs: Math.floor(heardMs(item)) }));
    this.side.clear(now, last.number);
    for (const item of cut) item.isTruncated = true;
    for (const { id, contentIndex, heardMs: audio_end_ms } of places) {
      const place = { item_id: id, content_index: contentIndex, audio_end_ms };
      this.send(now, { type: 'conversation.item.truncate', ...place });
    }
  }

  private interrupt(responseId: string): void {
    this.interrupted.add(responseId);
    if (this.interrupted.size > MAX_INTERRUPTED) this.interrupted.delete(this.interrupted.values().next().value!);
  }

  private responseDone(now: number, responseId: string, end: ResponseEnd): void {
    this.response = undefined;
    for (const itemId of end.items) {
      const words = this.items.takeWords(itemId);
      if (words !== undefined) this.said(now, itemId, words, true);
    }
    const code = FATAL.get(end.reason ?? '');
    if (end.status === 'failed' && code)
      return this.side.failed(now, failure(code, this.platform.describe({ said: end.said })));
    if (end.status === 'failed' || end.status === 'incomplete') {
      this.report(now, 'response_incomplete', `The response ended as ${this.platform.excerpt(end.said)}`);
    }
    if (end.status === 'cancelled' && !this.hasCallerSpoken) {
      this.report(now, 'response_cancelled', `The response ended as ${this.platform.excerpt(end.said)}`);
    }
    const hasCalledTools = this.tools.has(responseId);
    this.answer(now, this.tools.done(responseId, end.status === 'completed'));
    if (!hasCalledTools) this.side.turnEnded(now);
    if (!this.hangsUp) return;
    this.side.mark(now, (played) => {
      if (this.hangsUp) this.side.hangUp(played, 'The agent called the tool with which it hangs up');
    });
  }

  private toolCall(now: number, responseId: string, itemId: string, { id, name, json }: RequestedCall): void {
    const tool = name ?? this.items.nameOf(itemId) ?? '';
    // The call ends before a result of it could be of use.
    if (HANG_UP_TOOLS.has(tool)) this.hangsUp = true;
    else this.tools.called(responseId, id);
    this.side.toolCall(now, { id, name: tool, json });
  }

  private answer(now: number, outputs: ToolOutputs | undefined): void {
    if (!outputs) return;
    for (const { id, json } of outputs.results) {
      const item = { type: 'function_call_output', call_id: id, output: json };
      this.send(now, { type: 'conversation.item.create', item });
    }
    if (outputs.goesOn && !this.hangsUp) this.send(now, { type: 'response.create' });
  }

  private said(now: number, itemId: string, text: string, final: boolean): void {
    this.side.said(now, text, { final, item: this.items.of(itemId).number });
  }

  private failed(now: number, { code, type, message }: PlatformError): void {
    const said = [code ?? type, message].filter((word) => word !== '').join(': ');
    const detail = this.platform.describe({ said });
    if (this.readyAt === undefined) {
      return this.side.failed(now, failure(type === 'server_error' ? 'agent_error' : 'platform_refused', detail));
    }
    const fatal = FATAL.get(code ?? '');
    if (fatal) return this.side.failed(now, failure(fatal, detail));
    if (code !== HARMLESS) this.report(now, 'error_event', `The platform said: ${this.platform.excerpt(said)}`);
  }

  private report(now: number, code: keyof typeof REALTIME_FINDINGS, detail: string): void {
    this.side.finding(now, realtimeFinding(code, detail));
  }
}
