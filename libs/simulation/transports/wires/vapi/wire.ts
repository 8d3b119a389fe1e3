import { hash } from 'node:crypto';
import { AudioDecoder, type AudioFormat, encodeAudio } from '../../../../audio/index.js';
import { Redaction } from '../../../../text/index.js';
import { hadCallerSound } from '../../../voice/facts/caller-sounds.js';
import type { VoiceFacts, WireFinding } from '../../../voice/facts/facts.js';
import type { Wire, WireEntry, WireSide, WireState } from '../../../voice/wire/wire.js';
import { JsonWire, summary } from '../json-wire.js';
import { vapiFinding } from './findings.js';
import { readMessage, type ToolCall, type VapiMessage } from './messages.js';
import { endedBy } from './refusals.js';
import { AgentWords, type Reports } from './words.js';

export interface VapiState extends WireState {
  /** In both directions. */
  readonly format: AudioFormat;
  /** Secrets of the addresses of the call, which are in no list of the connection. */
  readonly addresses: readonly string[];
}

type Of<Type extends VapiMessage['type']> = Extract<VapiMessage, { type: Type }>;

/** The platform reports an interruption so long after the caller's sound, at the latest. */
const INTERRUPTED_MS = 2_000;
const NO_WORDS_MS = 10_000;
const MAX_KEPT = 1_000;

export default ((state) => (side) => new VapiWire(state, side)) satisfies WireEntry<VapiState>;

/** A call of Vapi over a WebSocket: binary audio in both directions, and JSON. The platform runs the agent's tools. */
class VapiWire extends JsonWire implements Wire {
  private readonly redaction: Redaction;
  private readonly words: AgentWords;
  private readonly decoder: AudioDecoder;
  private openedAt = 0;
  private isClosed = false;
  /** In milliseconds of the call. */
  private readonly interruptions: number[] = [];
  /** By their ids; and by what they call, in case they have none. */
  private readonly toolCalls = new Set<string>();

  constructor(
    private readonly state: VapiState,
    side: WireSide,
  ) {
    super(side, state.secrets);
    this.redaction = new Redaction(state.addresses);
    this.decoder = new AudioDecoder(state.format);
    const said: Reports['said'] = (now, text, { words, ...of }) => {
      const places = words?.map((word) => ({ ...word, text: this.clean(word.text) }));
      side.said(now, this.clean(text), { ...of, ...(places && { words: places }) });
    };
    this.words = new AgentWords({ said, playedMs: (item, now) => side.heardOfItem(item, now) }, state.format.rate);
  }

  /** No message says that the platform is ready, and the format is the one that was asked for. */
  open(now: number): void {
    this.openedAt = now;
    this.side.ready(now, { toAgent: this.state.format, fromAgent: this.state.format });
  }

  frame(now: number, pcm: Int16Array): void {
    this.words.tick(now);
    this.words.caller(now, pcm);
    const bytes = encodeAudio(this.state.format, pcm);
    this.side.send(bytes);
    this.log(now, 'sent', () => ({ audio: summary(bytes) }));
  }

  /** The platform knows no gaps: without its length, later sound would be heard too early. */
  lostFrame(now: number): void {
    this.frame(now, new Int16Array(this.state.format.rate / 50));
  }

  message(now: number, data: string | Uint8Array): void {
    if (typeof data !== 'string') return this.audio(now, data);
    this.log(now, 'received', () => this.platform.excerpt(data));
    const message = readMessage(data);
    if (message.type === 'invalid') {
      return this.side.finding(now, vapiFinding('invalid_message', `Not understood: ${this.platform.excerpt(data)}`));
    }
    this.checkComplete(now, message.lacks, data);
    this.obey(now, message);
  }

  closed(): void {
    this.isClosed = true;
  }

  stop(now: number): void {
    this.words.complete(now);
    if (!this.isClosed) this.send(now, { type: 'end-call' });
  }

  review(facts: Omit<VoiceFacts, 'wireFindings'>): readonly WireFinding[] {
    const { agent, end } = facts;
    const silent = `The caller made no sound in the ${INTERRUPTED_MS / 1_000} s before user-interrupted`;
    const wordless = 'No words within 10 s of the first sound';
    const isWordless = !this.words.hasWords && agent[0] && end.atMs - agent[0].endMs >= NO_WORDS_MS;
    return [
      ...this.interruptions
        .filter((at) => !hadCallerSound(facts, at, INTERRUPTED_MS))
        .map((atMs) => ({ ...vapiFinding('false_interruption', silent), atMs })),
      ...(isWordless ? [{ ...vapiFinding('no_words', wordless), atMs: agent[0]!.startMs }] : []),
    ];
  }

  private audio(now: number, bytes: Uint8Array): void {
    this.log(now, 'received', () => ({ audio: summary(bytes) }));
    const pcm = this.decoder.push(bytes);
    this.side.play(now, pcm, this.words.audio(now, pcm));
  }

  private obey(now: number, message: Exclude<VapiMessage, Of<'invalid'>>): void {
    const { side, words } = this;
    switch (message.type) {
      case 'spoken':
        return words.spoken(now, message);
      case 'model':
        return words.model(now, message.turnId, message.text);
      case 'transcript':
        return words.transcript(now, message.text);
      case 'heard':
        return side.heardCaller(now, this.clean(message.text));
      case 'caller_speech':
        return words.callerSpoke(now);
      case 'interrupted':
        return this.interrupted(now);
      case 'tools':
        return message.calls.forEach((call) => this.toolCall(now, call));
      case 'ended':
        return this.ended(now, message.reason);
      case 'note':
      case 'transfer':
        return side.event(now, message);
      case 'other':
        return;
    }
  }

  /** Inferred: no document says what a client does with the audio that it has not played. */
  private interrupted(now: number): void {
    if (this.interruptions.length < MAX_KEPT) this.interruptions.push(now - this.openedAt);
    this.words.interrupt(now);
    this.side.clear(now);
  }

  /** The same call may come in several messages, of which `function-call` has no id. */
  private toolCall(now: number, { id, name, json }: ToolCall): void {
    const what = hash('sha256', `${name}(${json.replaceAll(/\s/g, '')})`);
    const unnamed = `without an id: ${what}`;
    const isKnown = this.toolCalls.has(id ?? what) || (id !== undefined && this.toolCalls.delete(unnamed));
    if (this.toolCalls.size >= 2 * MAX_KEPT) return;
    for (const one of [id ?? unnamed, what]) this.toolCalls.add(one);
    if (isKnown) return;
    this.side.toolCall(now, { id: id ?? what, name: this.clean(name), json: this.clean(json) });
  }

  private ended(now: number, reason: string): void {
    const by = endedBy(this.platform, reason);
    if (by === undefined) return;
    if (by !== 'agent') return this.side.failed(now, by);
    this.words.complete(now);
    const why = `The platform ended the call: ${this.platform.excerpt(reason)}`;
    this.side.mark(now, (played) => this.side.hangUp(played, why));
  }

  private clean(text: string): string {
    return this.redaction.clean(text);
  }
}
