import type { HistoryLine, Speaker } from '../../evaluation-definition/index.js';
import type { Failure } from './failure.js';
import { redacted, type SaidCall } from './redacted-call.js';
import type { EndCode } from './end-codes.js';
import type { Recorded } from './recorded.js';
import { Redaction } from '../../text/index.js';
import { guarded, sanitizeText } from './text.js';
import type { JsonValue } from './text.js';

interface Span {
  /** Milliseconds since the call was answered. */
  readonly start: number;
  readonly end: number;
  /** 0 before the caller's first words; n from its nth words until it speaks again. */
  readonly turn: number;
}

/** Where in its script a scripted caller found a line; positions count from 0. */
export interface ScriptSource {
  readonly step: number;
  /** Positions of the answers that matched. */
  readonly answers?: readonly number[];
  /** Present when no answer matched. */
  readonly otherwise?: true;
  /** Present when the caller repeated its line because the agent had not answered. */
  readonly repeated?: true;
}

/** Words of one side; both sides may overlap. */
export interface SpeechEntry extends Span {
  readonly type: 'speech';
  readonly speaker: Speaker;
  readonly text: string;
  /** Present when the speaker was cut off by the end of the call. */
  readonly cut?: true;
  /** Present on lines of a scripted caller. */
  readonly script?: ScriptSource;
  /** Present when this goes on after a pause of its speaker: the words follow those of the previous entry directly. */
  readonly continues?: true;
  /** Present when the agent spoke because the simulated caller thought: it counts in no time and no turn. */
  readonly promptedByWait?: true;
  /**
   * How much is known of the words that the agent was heard to say on a voice call: with `unknown`, `text` is empty; with
   * `partly` it has the known ones. Absent on text calls and for the caller, whose words are all known unless the call was
   * recorded elsewhere. `deleted` for both sides of a voice call whose texts were deleted later, `withheld` for a
   * reader who does not get them.
   */
  readonly words?: 'known' | 'partly' | 'unknown' | 'deleted' | 'withheld';
  /** Parts of `text`, from and to a position, that may not have been heard because the agent was cut off there. */
  readonly uncertain?: readonly (readonly [number, number])[];
  /** Present when the rest of the agent's words was dropped before it was heard. */
  readonly interrupted?: true;
  /** Words that the agent had ready and did not say, because a caller without a script interrupted it. */
  readonly unheard?: string;
  /**
   * Shown, never judged: what the platform of a voice call understood of a caller's line; on the agent's first words in a turn,
   * what it generated in that turn, where a recogniser heard something else.
   */
  readonly alternative?: { readonly source: 'wire'; readonly text: string };
  /** Present on a caller's line that was to be spoken over the agent, by its script or of its own accord. */
  readonly bargeIn?: {
    /** Audible milliseconds of the agent's turn before it, as planned. */
    readonly afterMs: number;
    /** False over text, or when the agent's turn ended first: the line was then said at once. */
    readonly possible: boolean;
  };
}

/** A sound of the caller without the wish to speak, or keys that it pressed. */
export interface SoundEntry extends Span {
  readonly type: 'sound';
  readonly speaker: 'caller';
  readonly kind: 'backchannel' | 'noise' | 'filler' | 'keys';
  /** Name of the sound, or the keys, as in the script. */
  readonly name: string;
  /** False when it was left out: over text, or because the agent's turn ended first. */
  readonly possible: boolean;
  readonly script?: ScriptSource;
}

/** A deviation of the agent from the protocol of its platform. */
export interface FindingEntry extends Span {
  readonly type: 'finding';
  readonly code: string;
  readonly severity: 'error' | 'warning';
  readonly detail: string;
}

/** What the agent asked its platform to do, outside of the audio. */
export interface PlatformEntry extends Span {
  readonly type: 'platform';
  readonly event: 'transfer' | 'note';
  /** For `transfer` its target, such as a telephone number. */
  readonly detail: string;
}

/** An answer is split into entries where this time passes between two parts of it: the caller hears silence. */
const PAUSE_MS = 500;

/** The words of several entries of one side. */
export const joinSpeech = (entries: readonly Pick<SpeechEntry, 'text' | 'continues'>[]): string =>
  entries.map(({ text, continues }, index) => (index === 0 || continues ? text : ` ${text}`)).join('');

export interface ToolCallEntry extends Span {
  readonly type: 'tool_call';
  readonly name: string;
  /**
   * Null when the agent did not send a JSON object; `rawArguments` then contains what it sent. Without it the platform runs
   * the tool itself, and does not tell them. With both, the agent's backend reported `arguments`, the same in another form.
   */
  readonly arguments: { readonly [name: string]: JsonValue } | null;
  readonly rawArguments?: string;
  /** What the tester returned; absent if the agent did not wait for it. */
  readonly result?: JsonValue;
  /** Present when the result is not stored because the call has too many. */
  readonly isResultOmitted?: true;
  /**
   * Present when it came in one message with the words before it, such as an answer that is not streamed: which came first is
   * not known.
   */
  readonly isBesideWords?: true;
  /** Present when the agent's backend reported it, with its time or without: then it may be earlier than the `arrival`. */
  readonly reported?: 'given' | 'arrival';
}

/** The agent did not answer, or the caller waited as its script says. */
export interface SilenceEntry extends Span {
  readonly type: 'silence';
  readonly of: Speaker;
}

/** What was said or done before the call: the evaluation gave it to the agent; it is not part of the call itself. */
export interface GivenEntry extends Span {
  readonly type: 'given';
  readonly line: HistoryLine;
}

export interface ErrorEntry extends Span {
  readonly type: 'error';
  readonly code: Failure['code'];
  readonly message: string;
}

export interface EndEntry extends Span {
  readonly type: 'end';
  /** `tester`: a limit, a failure, the platform or the end of a recording ended the call. */
  readonly by: Speaker | 'tester';
  readonly code: EndCode;
  /** The reason, in the words of the side that ended the call. */
  readonly reason: string;
  /** Present if the call was recorded elsewhere; absent in results of earlier versions. */
  readonly recorded?: Recorded;
}

export type TimelineEntry =
  | GivenEntry
  | SpeechEntry
  | SoundEntry
  | ToolCallEntry
  | SilenceEntry
  | FindingEntry
  | PlatformEntry
  | ErrorEntry
  | EndEntry;

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** Records what happens on a call, in call time. */
export class Timeline {
  private readonly recorded: Writable<TimelineEntry>[] = [];
  private speaking: Writable<SpeechEntry> | undefined;
  /** When the latest words of the agent arrived. */
  private spokenAt = 0;
  private turnNumber = 0;
  /** White space between words that a tool call divides; undefined if the next words begin an answer. */
  private divided: string | undefined;
  /** Of each tool call that has begun, what stands before it. */
  private places: (TimelineEntry | undefined)[] = [];

  /**
   * @param onEntry called with every complete entry
   * @param redaction removes secrets from what the agent says and does
   */
  constructor(
    private readonly onEntry: (entry: TimelineEntry) => void = () => undefined,
    private readonly redaction = new Redaction([]),
  ) {}

  /** In order of their start. */
  get entries(): readonly TimelineEntry[] {
    return this.recorded;
  }

  get turn(): number {
    return this.turnNumber;
  }

  callerSpoke(
    text: string,
    start: number,
    end: number,
    { script, bargeIn }: Pick<SpeechEntry, 'script' | 'bargeIn'> = {},
  ): void {
    this.turnNumber++;
    const words = { type: 'speech', speaker: 'caller', text } as const;
    this.add({ ...words, ...this.span(start, end), ...(script && { script }), ...(bargeIn && { bargeIn }) });
  }

  /** A sound of the caller that this call cannot carry. */
  soundLeftOut(sound: Pick<SoundEntry, 'kind' | 'name' | 'script'>, at: number): void {
    this.add({ type: 'sound', speaker: 'caller', ...sound, possible: false, ...this.span(at, at) });
  }

  /** Adds to what the agent is saying. White space neither starts speech nor ends a pause. */
  agentSpeaks(part: string, at: number): void {
    if (part.trim() === '') {
      if (this.speaking) this.speaking.text += part;
      else if (this.divided !== undefined) this.divided += part;
      return;
    }
    // A pair of surrogates that a stream divides is one character.
    const isDivided = /[\uD800-\uDBFF]$/.test(this.speaking?.text ?? '') && /^[\uDC00-\uDFFF]/.test(part);
    if (this.speaking && !isDivided && at - this.spokenAt >= PAUSE_MS) {
      const separator = /\s$/.test(this.speaking.text) || /^\s/.test(part) ? ' ' : '';
      this.agentPaused(at);
      this.startSpeech(separator + part.trimStart(), at, { continues: true });
    } else if (this.speaking) {
      this.speaking.text += part;
      this.speaking.end = rounded(at);
    } else if (this.divided === undefined) this.startSpeech(part, at);
    else {
      const separator = this.divided !== '' || /^\s/.test(part) ? ' ' : '';
      this.divided = undefined;
      this.startSpeech(separator + part.trimStart(), at, { continues: true });
    }
    this.spokenAt = at;
  }

  private startSpeech(text: string, at: number, more: Pick<SpeechEntry, 'continues'> = {}): void {
    this.speaking = { type: 'speech', speaker: 'agent', text, ...more, ...this.span(at, at) };
    this.recorded.push(this.speaking);
  }

  /** Ends what the agent is saying: after its latest words if it has paused since. */
  agentPaused(at: number, cut = false): void {
    const { speaking } = this;
    this.divided = undefined;
    if (!speaking) return;
    this.speaking = undefined;
    if (at - this.spokenAt < PAUSE_MS) speaking.end = Math.max(speaking.end, rounded(at));
    if (cut) speaking.cut = true;
    this.finish(speaking);
  }

  private finish(speaking: Writable<SpeechEntry>): void {
    const text = this.cleaned(speaking.text);
    speaking.text = speaking.continues ? text.trimEnd() : text.trim();
    this.onEntry(speaking);
  }

  /** The agent's next words go on in an entry of their own. */
  agentSplits(): void {
    const { speaking } = this;
    if (!speaking) return;
    this.speaking = undefined;
    this.divided = /\s*$/.exec(speaking.text.slice(-100))![0];
    this.finish(speaking);
  }

  /** A tool call begins here, whatever comes before it is complete. */
  toolStarts(): void {
    this.agentSplits();
    this.places.push(this.recorded.at(-1));
  }

  warned({ code, detail }: Pick<FindingEntry, 'code' | 'detail'>, at: number): void {
    this.add({ type: 'finding', code, severity: 'warning', detail, ...this.span(at, at) });
  }

  toolCalled(
    { isBesideWords, ...call }: SaidCall & Pick<ToolCallEntry, 'isBesideWords'>,
    start: number,
    end: number,
  ): void {
    const beside = isBesideWords && { isBesideWords };
    const said = { type: 'tool_call', ...redacted(call, this.redaction), ...beside, ...this.span(start, end) } as const;
    if (this.places.length === 0) return void this.add(said);
    const before = this.places.shift();
    const entry = this.add(said, before === undefined ? 0 : this.recorded.indexOf(before) + 1);
    // The next one in this place follows this one.
    this.places = this.places.map((place) => (place === before ? entry : place));
  }

  /** Another timeline of the same call, without an entry. */
  empty(): Timeline {
    return new Timeline(undefined, this.redaction);
  }

  /** Something that was observed on a call, in order of its start. @param replaced how many entries it takes the place of */
  observed(entry: TimelineEntry, place = this.placeAt(entry.start), replaced = 0): void {
    this.turnNumber = Math.max(this.turnNumber, entry.turn);
    this.add(this.withoutSecrets(entry), place, replaced);
  }

  private withoutSecrets(entry: TimelineEntry): TimelineEntry {
    if (entry.type === 'tool_call') return { ...entry, ...redacted(entry, this.redaction) };
    if (entry.type !== 'speech') return entry;
    const { alternative, uncertain } = entry;
    const other = alternative && { alternative: { ...alternative, text: this.cleaned(alternative.text) } };
    if (entry.speaker === 'caller') return { ...entry, ...other };
    const { unheard, ...spoken } = entry;
    const text = this.cleaned(entry.text);
    // A secret may stand in what was heard and in what was not.
    const whole = `${text} ${unheard}`;
    const rest = unheard !== undefined && this.cleaned(whole) === whole && { unheard };
    // Positions in a text that was changed mean nothing.
    const cut = uncertain && text !== entry.text ? { uncertain: [[0, text.length] as const] } : {};
    return { ...spoken, ...other, text, ...rest, ...cut };
  }

  /** A text of the agent without secrets. */
  cleaned(text: string): string {
    return this.redaction.clean(sanitizeText(text));
  }

  given(lines: readonly HistoryLine[]): void {
    for (const line of lines) this.add({ type: 'given', line, ...this.span(0, 0) });
  }

  silence(of: Speaker, start: number, end: number): void {
    this.add({ type: 'silence', of, ...this.span(start, end) });
  }

  failed({ code, message }: Failure, at: number): void {
    this.add({ type: 'error', code, message: this.cleaned(message), ...this.span(at, at) });
  }

  ended(by: EndEntry['by'], code: EndCode, reason: string, at: number, recorded?: Recorded): EndEntry {
    this.agentPaused(at, this.speaking !== undefined);
    const ended = { by, code, reason: this.cleaned(reason), ...(recorded && { recorded }) };
    const end: EndEntry = { type: 'end', ...ended, ...this.span(at, at) };
    this.add(end);
    return end;
  }

  /** What the agent has said in the current turn. */
  agentWords(): string {
    const parts: SpeechEntry[] = [];
    for (let index = this.recorded.length - 1; index >= 0; index--) {
      const entry = this.recorded[index]!;
      if (entry.turn !== this.turnNumber) break;
      if (entry.type === 'speech' && entry.speaker === 'agent') parts.unshift(entry);
    }
    return this.cleaned(joinSpeech(parts)).trim();
  }

  private span(start: number, end: number) {
    return { start: rounded(start), end: rounded(Math.max(start, end)), turn: this.turnNumber };
  }

  /** The one place where what others said is guarded: checks, reports and storage see the entries. */
  private add(said: TimelineEntry, place = this.placeAt(said.start), replaced = 0): TimelineEntry {
    const entry = guarded(said);
    this.recorded.splice(place, replaced, entry);
    if (replaced === 0) this.onEntry(entry);
    return entry;
  }

  /** A silence is recorded when it ends, so it may belong before later entries. */
  private placeAt(start: number): number {
    let index = this.recorded.length;
    while (index > 0 && this.recorded[index - 1]!.start > start) index--;
    return index;
  }
}

/** Rounds to a tenth of a millisecond. */
const rounded = (ms: number): number => Math.round(ms * 10) / 10;
