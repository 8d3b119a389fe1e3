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
import {
  type PlatformError,
  readEvent,
  type RequestedCall,
  type ResponseEnd,
  type ServerEvent,
  typeOf,
} from './messages.js';
import { Moments, reviewCall } from './review.js';
import { ToolCalls } from './tool-calls.js';

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
/** A session may be updated so long after an error. */
const REFUSED_MS = 1_000;
const MAX_CAME = 10;
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
  /** Types of events before the session was ready, and the first error. */
  private readonly came = new Set<string>();
  private refusal: { readonly at: number; readonly said: string; readonly code: FailureCode } | undefined;
  /** What the present response writes and does not say. */
  private text = '';
  /** Whether the session was created, and whether it was updated before. */
  private isCreated = false;
  private isAsked = false;
  private isInterruptible = true;
  /** The response that goes on, and those that the caller has interrupted: nothing more of them is heard. */
  private response: string | undefined;
  private latest = '';
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
    if (this.refusal && now - this.refusal.at >= REFUSED_MS) this.refuse(now);
    for (const call of this.tools.overdue(now)) this.toolCall(now, call);
    this.goOn(now);
  }

  /** Binary messages are read as text, as OpenAI's own client does. */
  override message(now: number, data: string | Uint8Array): void {
    const text = typeof data === 'string' ? data : Buffer.from(data).toString('utf8');
    const type = this.readyAt === undefined && this.came.size < MAX_CAME ? typeOf(text) : '';
    const other = typeof data === 'string' ? 'texts that are not events' : 'binary messages';
    if (type !== '') this.came.add(type ?? other);
    super.message(now, text);
  }

  received(): string | undefined {
    const came = this.platform.excerpt([...this.came].join(', '));
    return came === '' ? undefined : `${came} without session.updated`;
  }

  closed(now: number, code: number, reason: string): void {
    if (this.refusal) this.refuse(now, `it closed the connection with code ${code} ${reason}`.trim());
  }

  toolResult(now: number, id: string, json: string): void {
    if (!this.tools.answered(now, id)) return;
    const item = { type: 'function_call_output', call_id: id, output: json };
    this.send(now, { type: 'conversation.item.create', item });
    this.goOn(now);
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

  protected invalid(detail: string, { isLoss }: Of<'invalid'>) {
    return realtimeFinding(isLoss ? 'invalid_message' : 'message_ignored', detail);
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
        this.latest = this.response = event.responseId || `#${this.moments.responses.length}`;
        this.hasCallerSpoken = false;
        this.text = '';
        this.tools.over();
        return this.moments.note('responses', this.callTime(now));
      case 'response.done':
        return this.responseDone(now, event.responseId || this.latest, event.end);
      case 'audio':
        return this.audio(now, event);
      case 'words':
        return this.said(now, this.items.of(event.itemId, event.responseId || this.latest), event.text, event.isWhole);
      case 'text':
        this.text = event.text;
        return;
      case 'item':
        if (event.isDone) return this.heardCall(now, event.responseId, event.item.call, event.item.isWhole);
        return this.heardCall(Infinity, event.responseId, event.item.call);
      case 'tool_call':
        return this.heardCall(now, event.responseId, event.call);
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
    if (this.refusal) this.report(now, 'error_event', `The platform said: ${this.platform.excerpt(this.refusal.said)}`);
    this.refusal = undefined;
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

  private audio(now: number, { itemId, responseId: id, contentIndex, base64, isOld }: Of<'audio'>): void {
    const responseId = id || this.latest;
    const bytes = Buffer.from(base64, 'base64');
    this.log(now, 'received', () => ({
      type: 'response.output_audio.delta',
      item_id: this.platform.excerpt(itemId),
      delta: summary(bytes),
    }));
    if (this.interrupted.has(responseId)) return;
    // Half a sample at the end of an item must not shift the next one.
    const item = this.items.of(itemId, responseId);
    if (itemId === '') this.report(now, 'item_unnamed', 'The audio names no item');
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
    this.tools.over();
    // The caller has more to say after a goodbye.
    this.hangsUp = false;
    if (!last || (this.side.bufferedMs(now) <= 0 && this.response === undefined)) return;
    const heardMs = ({ number, receivedMs }: AudioItem) => Math.min(this.side.heardOfItem(number, now), receivedMs);
    const cut = this.items.unplayed(heardMs).filter(({ receivedMs }) => receivedMs > 0);
    const places = cut.map((item) => ({ ...item, heardMs: Math.floor(heardMs(item)) }));
    this.side.clear(now, last.number);
    for (const item of cut) item.isTruncated = true;
    for (const { id, contentIndex, heardMs: audio_end_ms } of places) {
      if (id === '') continue;
      const place = { item_id: id, content_index: contentIndex, audio_end_ms };
      this.send(now, { type: 'conversation.item.truncate', ...place });
    }
  }

  private interrupt(responseId: string): void {
    this.interrupted.add(responseId);
    if (this.interrupted.size > MAX_INTERRUPTED) this.interrupted.delete(this.interrupted.values().next().value!);
  }

  private responseDone(now: number, responseId: string, end: ResponseEnd): void {
    if (this.response === responseId) this.response = undefined;
    for (const [item, words] of this.items.rest(responseId, end.items)) this.said(now, item, words, true);
    const heard = this.items.heard(responseId);
    if (end.status === 'completed' && this.items.isSparse(responseId)) {
      this.report(now, 'few_words', 'The words of a response are far too few for its audio');
    }
    const text = [this.text, ...end.items.map((item) => item.text)].find((each) => each !== '');
    if (text !== undefined && heard.length === 0) {
      this.report(now, 'text_without_audio', `The agent answered in text: ${this.platform.excerpt(text)}`);
    }
    const code = FATAL.get(end.reason ?? '');
    if (end.status === 'failed' && code)
      return this.side.failed(now, failure(code, this.platform.describe({ said: end.said })));
    const detail = `The response ended as ${this.platform.excerpt(end.said)}`;
    if (end.status === 'failed' || end.status === 'incomplete') this.report(now, 'response_incomplete', detail);
    if (end.status === 'cancelled' && !this.hasCallerSpoken) {
      if (heard.length > 0) this.report(now, 'response_cancelled', detail);
      // Nothing of it was heard: it matters only if the caller was silent.
      else this.moments.cancelled(this.callTime(now), detail);
    }
    for (const { call, isWhole } of end.items) this.heardCall(now, responseId, call, isWhole);
    for (const call of this.tools.done(responseId, end.status === 'completed')) this.toolCall(now, call);
    if (!this.tools.has(responseId)) this.side.turnEnded(now);
    this.goOn(now);
    if (this.hangsUp) this.hangUp(now);
  }

  private heardCall(now: number, responseId: string, call: RequestedCall | undefined, isWhole?: boolean): void {
    const whole = call && this.tools.heard(now, responseId || this.latest, call, isWhole);
    if (whole) this.toolCall(now, whole);
  }

  private toolCall(now: number, { id, name, json }: RequestedCall): void {
    if (HANG_UP_TOOLS.has(name)) {
      this.hangsUp = true;
      // The call ends before a result of it could be of use.
      this.tools.answered(now, id);
    }
    this.side.toolCall(now, { id, name, json });
  }

  /** Asks the agent to go on with the results that it has, or hangs up. */
  private goOn(now: number): void {
    if (!this.tools.isDue(now)) return;
    if (this.hangsUp) this.hangUp(now);
    else this.send(now, { type: 'response.create' });
  }

  private hangUp(now: number): void {
    this.side.mark(now, (played) => {
      if (this.hangsUp) this.side.hangUp(played, 'The agent called the tool with which it hangs up');
    });
  }

  private said(now: number, item: AudioItem, text: string, final: boolean): void {
    const words = this.items.say(item, text, final);
    if (words !== '') this.side.said(now, words, { final, item: item.number });
  }

  private failed(now: number, { code, type, message }: PlatformError): void {
    const said = [code ?? type, message].filter((word) => word !== '').join(': ');
    const fatal = FATAL.get(code ?? '');
    if (this.readyAt === undefined) {
      this.refusal ??= { at: now, said, code: fatal ?? (type === 'server_error' ? 'agent_error' : 'platform_refused') };
      return;
    }
    if (fatal) return this.side.failed(now, failure(fatal, this.platform.describe({ said })));
    if (code !== HARMLESS) this.report(now, 'error_event', `The platform said: ${this.platform.excerpt(said)}`);
  }

  private refuse(now: number, what?: string): void {
    const { code, said } = this.refusal!;
    this.side.failed(now, failure(code, this.platform.describe({ said, what })));
  }

  private report(now: number, code: keyof typeof REALTIME_FINDINGS, detail: string): void {
    this.side.finding(now, realtimeFinding(code, detail));
  }
}
