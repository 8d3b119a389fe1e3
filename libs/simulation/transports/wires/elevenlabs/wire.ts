import { AudioDecoder, type AudioFormat, bytesPerSecond } from '../../../../audio/index.js';
import { Redaction } from '../../../../text/index.js';
import { failure } from '../../../timeline/failure.js';
import type { JsonValue } from '../../../timeline/text.js';
import { hadCallerSound } from '../../../voice/facts/caller-sounds.js';
import type { VoiceFacts, WireFinding } from '../../../voice/facts/facts.js';
import type { Wire, WireEntry, WireSide, WireState } from '../../../voice/wire/wire.js';
import { HANG_UP_TOOLS } from '../../text/hang-up.js';
import { JsonAudioWire } from '../json-audio-wire.js';
import { summary } from '../json-wire.js';
import { elevenlabsFinding, type ELEVENLABS_FINDINGS } from './findings.js';
import { clientToolResult, type PlatformError, readMessage, type ServerMessage } from './messages.js';
import { closedByError, endedByError, isFinal } from './refusals.js';
import { AgentTurns } from './turns.js';

export interface ElevenLabsState extends WireState {
  /** The first message. */
  readonly initiation: object;
  readonly sendsActivity: boolean;
  /** Secrets of the signed address, which are in no list of the connection. */
  readonly signature: readonly string[];
}

type Of<Type extends ServerMessage['type']> = Extract<ServerMessage, { type: Type }>;
type Facts = Omit<VoiceFacts, 'wireFindings'>;

/** The platform reports an interruption so long after the caller's sound, at the latest. */
const INTERRUPTED_MS = 2_000;
/** An error is the reason of a close that follows so soon. */
const ERROR_CLOSES_MS = 2_000;
/** Nobody speaks faster or more slowly, in characters a second; and what the two accounts may differ in anyway. */
const PACE = { fastest: 25, slowest: 8, tolerance: 40 };
const MAX_KEPT = 1_000;
const DEFAULT_FORMAT: AudioFormat = { encoding: 'pcm16', rate: 16_000 };

export default ((state) => (side) => new ElevenLabsWire(state, side)) satisfies WireEntry<ElevenLabsState>;

/** A conversation of ElevenLabs Agents: the platform takes turns, and its audio arrives earlier than it is played. */
class ElevenLabsWire extends JsonAudioWire<ServerMessage> implements Wire {
  private readonly words: Redaction;
  private readonly turns: AgentTurns;
  private fromAgent = DEFAULT_FORMAT;
  private decoder = new AudioDecoder(this.fromAgent);
  private playing = 0;
  /** In milliseconds of the call. */
  private readonly interruptions: number[] = [];
  private readonly toolCalls = new Set<string>();
  private hasWords = false;
  private error: (PlatformError & { readonly at: number }) | undefined;

  constructor(
    private readonly state: ElevenLabsState,
    side: WireSide,
  ) {
    super(side, state.secrets, DEFAULT_FORMAT);
    this.words = new Redaction(state.signature);
    this.turns = new AgentTurns((now, text, { words, ...of }) => {
      const spoken = words?.map((word) => ({ ...word, text: this.clean(word.text) }));
      this.side.said(now, this.clean(text), { ...of, ...(spoken && { words: spoken }) });
    });
  }

  open(now: number): void {
    this.send(now, this.state.initiation);
  }

  override frame(now: number, pcm: Int16Array): void {
    this.turns.tick(now);
    super.frame(now, pcm);
  }

  callerThinking(now: number, on: boolean): void {
    if (on && this.state.sendsActivity) this.send(now, { type: 'user_activity' });
  }

  toolResult(now: number, id: string, json: string, isError = false): void {
    this.send(now, clientToolResult(id, JSON.parse(json) as JsonValue, isError));
  }

  closed(now: number, code: number, reason: string): void {
    const { error } = this;
    const isRecent = error !== undefined && now - error.at <= ERROR_CLOSES_MS;
    const broken = closedByError(this.platform, isRecent ? error : undefined, { code, reason });
    if (broken) this.side.failed(now, broken);
  }

  // The socket is the call: the core closes it, and the platform knows no other end.
  stop(): void {
    this.error = undefined;
  }

  review(facts: Facts): readonly WireFinding[] {
    const found = (code: keyof typeof ELEVENLABS_FINDINGS, detail: string, atMs: number) => ({
      ...elevenlabsFinding(code, detail),
      atMs,
    });
    const { agent, end } = facts;
    const silent = `The caller made no sound in the ${INTERRUPTED_MS / 1_000} s before interruption`;
    const isWordless = !this.hasWords && agent[0] !== undefined && end.atMs - agent[0].endMs >= 10_000;
    return [
      ...this.interruptions
        .filter((at) => !hadCallerSound(facts, at, INTERRUPTED_MS))
        .map((at) => found('false_interruption', silent, at)),
      ...(isWordless ? [found('no_words', 'No agent_response within 10 s of the first sound', agent[0]!.startMs)] : []),
      ...(this.turns.hasHeldWords && facts.arrivals.length === 0
        ? [found('no_audio', 'agent_response without audio', end.atMs)]
        : []),
    ];
  }

  protected audioMessage(audio: unknown): object {
    return { user_audio_chunk: audio };
  }

  protected read(text: string): ServerMessage {
    return readMessage(text);
  }

  protected invalid(detail: string) {
    return elevenlabsFinding('invalid_message', detail);
  }

  protected obey(now: number, message: Exclude<ServerMessage, Of<'invalid'>>): void {
    const { side, turns } = this;
    switch (message.type) {
      case 'metadata':
        return this.ready(now, message);
      case 'audio':
        return this.audio(now, message);
      case 'response':
        this.hasWords = true;
        return turns.text(now, message.text);
      case 'heard':
        return side.heardCaller(now, this.clean(message.text));
      case 'correction':
        return this.corrected(now, message);
      case 'interruption':
        if (this.interruptions.length < MAX_KEPT) this.interruptions.push(this.callTime(now));
        return void side.clear(now, turns.interrupt(now, message.eventId));
      case 'ping':
        return this.send(now, { type: 'pong', event_id: message.eventId });
      case 'tool_call':
        return this.toolCall(now, message);
      case 'tool_done':
        return this.toolDone(now, message);
      case 'guardrail':
        return side.event(now, { type: 'note', detail: 'A guardrail of the agent was triggered' });
      case 'error':
        return this.failed(now, message);
      case 'part':
      case 'other':
        return;
    }
  }

  private ready(now: number, { id, toAgent, fromAgent }: Of<'metadata'>): void {
    if (this.readyAt !== undefined) return;
    if (id !== null) this.side.identified(now, this.platform.excerpt(this.clean(id)));
    if (typeof toAgent === 'string' || typeof fromAgent === 'string') {
      const what = `audio format ${[toAgent, fromAgent].find((format) => typeof format === 'string') as string}`;
      return this.side.failed(now, failure('not_ready', this.platform.describe({ what })));
    }
    this.toAgent = toAgent;
    this.fromAgent = fromAgent;
    this.readyAt = now;
    this.side.ready(now, { toAgent, fromAgent });
  }

  private audio(now: number, { eventId, base64, alignment }: Of<'audio'>): void {
    const bytes = Buffer.from(base64, 'base64');
    this.log(now, 'received', () => ({ type: 'audio', event_id: eventId, audio_base_64: summary(bytes) }));
    if (eventId === this.turns.interruptedId) {
      const what = this.turns.isLate(now, eventId) ? 'of the answer that was interrupted' : 'of a new answer';
      this.report(now, 'late_audio', `Audio ${what} arrived with the event_id of the interruption before it`);
    }
    const item = this.turns.audio(now, eventId, (bytes.length * 1_000) / bytesPerSecond(this.fromAgent), alignment);
    // Half a sample at the end of an item must not shift the next one.
    if (item !== this.playing) this.decoder = new AudioDecoder(this.fromAgent);
    this.playing = item;
    this.side.play(now, this.decoder.push(bytes), item);
  }

  /** What the platform believes was heard is shown, and never judged. */
  private corrected(now: number, { corrected }: Of<'correction'>): void {
    const shown = this.platform.excerpt(this.clean(corrected));
    this.side.event(now, { type: 'note', detail: `The platform believes that the caller heard "${shown}"` });
    const seconds = this.side.heardOfItem(this.turns.item, now) / 1_000;
    const { fastest, slowest, tolerance } = PACE;
    const isPossible =
      corrected.length <= fastest * seconds + tolerance && corrected.length >= slowest * seconds - tolerance;
    if (isPossible || this.turns.sentMs === 0) return;
    const detail = `${corrected.length} characters, where ${seconds.toFixed(1)} s were played: "${shown}"`;
    this.report(now, 'heard_otherwise', detail);
  }

  private toolCall(now: number, { id, name, json }: Pick<Of<'tool_call'>, 'id' | 'name' | 'json'>): void {
    if (this.toolCalls.has(id) || this.toolCalls.size >= MAX_KEPT) return;
    this.toolCalls.add(id);
    this.side.toolCall(now, { id, name: this.clean(name), json: json === null ? null : this.clean(json) });
  }

  /** Which of the two events is sent for a tool of the platform is a setting of the agent. */
  private toolDone(now: number, { id, name }: Of<'tool_done'>): void {
    this.toolCall(now, { id, name, json: null });
    if (!HANG_UP_TOOLS.has(name)) return;
    this.turns.complete(now);
    this.side.mark(now, (played) => this.side.hangUp(played, 'The agent called the tool with which it hangs up'));
  }

  private failed(now: number, error: PlatformError): void {
    this.error = { ...error, at: now };
    const shown = this.platform.excerpt(error.said);
    if (this.readyAt === undefined || isFinal(error.said)) {
      return this.side.failed(now, endedByError(this.platform, error));
    }
    this.report(now, 'error_event', `The platform said: ${[error.code, shown].join(' ').trim()}`);
  }

  private clean(text: string): string {
    return this.words.clean(text);
  }

  private report(now: number, code: keyof typeof ELEVENLABS_FINDINGS, detail: string): void {
    this.side.finding(now, elevenlabsFinding(code, detail));
  }
}
