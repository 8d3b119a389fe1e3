import { AUDIO_RATES, AudioDecoder, type AudioFormat, encodeAudio } from '../../../../audio/index.js';
import { Redaction } from '../../../../text/index.js';
import { type FailureCode, failure } from '../../../timeline/failure.js';
import type { VoiceFacts, WireFinding } from '../../../voice/facts/facts.js';
import type { Wire, WireEntry, WireSide, WireState } from '../../../voice/wire/wire.js';
import { missedClears } from '../barge-in.js';
import { JsonWire, summary } from '../json-wire.js';
import { type PIPECAT_FINDINGS, pipecatFinding } from './findings.js';
import { audioFrame, messageFrame, type PipecatFrame, readFrame } from './frames.js';
import { readRtvi, RTVI, type RtviMessage } from './messages.js';
import { BotWords } from './words.js';

export interface PipecatState extends WireState {
  /** Of the caller's audio. */
  readonly rate: AudioRate;
  readonly speaksRtvi: boolean;
  /** Whether function calls must come with their names. */
  readonly showsTools: boolean;
  /** Tools for which the evaluation has results. */
  readonly mockedTools: readonly string[];
  /** Secrets of an address that an answer named. */
  readonly addresses: readonly string[];
}

type AudioRate = AudioFormat['rate'];
type Of<Type, From> = Extract<From, { type: Type }>;

/** Without bot-ready by then, the bot has no RTVI. The core gives up at the same time, after the tick. */
const RTVI_MS = 10_000;
const MAX_CALLS = 1_000;
const WAV_HEADER = 44;
const PCM = { encoding: 'pcm16' } as const;

export default ((state) => (side) => new PipecatWire(state, side)) satisfies WireEntry<PipecatState>;

/** A call of a bot: binary frames with audio at twice the pace of speech, and RTVI. */
class PipecatWire extends JsonWire implements Wire {
  toolResult: Wire['toolResult'];
  private readonly redaction: Redaction;
  private readonly words: BotWords;
  private readonly decoder = new AudioDecoder(PCM);
  /** That of RTVI; 0 before the bot is ready. */
  private version = 0;
  private openedAt = 0;
  private isReady = false;
  private isLate = false;
  /** Of the bot's audio. */
  private rate: AudioRate = 24_000;
  private hasAudio = false;
  private hasRtvi = false;
  private hasInterruptions = false;
  private readonly calls = new Map<string, Of<'tool', RtviMessage>>();

  constructor(
    private readonly state: PipecatState,
    side: WireSide,
  ) {
    super(side, state.secrets);
    this.redaction = new Redaction(state.addresses);
    this.words = new BotWords((now, text, of) => side.said(now, this.clean(text), of));
  }

  open(now: number): void {
    this.openedAt = now;
    if (!this.state.speaksRtvi) return this.begin(now);
    this.tell(now, 'client-ready', { version: RTVI.version, about: { library: 'voice-agent-testing' } });
  }

  tick(now: number): void {
    if (!this.state.speaksRtvi || this.isLate || now - this.openedAt < RTVI_MS) return;
    this.isLate = true;
    if (!this.hasRtvi) this.report(now, 'no_rtvi', 'No RTVI message came within 10 s of the connection');
    this.begin(now);
  }

  frame(now: number, pcm: Int16Array): void {
    const bytes = encodeAudio(PCM, pcm);
    this.side.send(audioFrame(bytes, this.state.rate));
    this.log(now, 'sent', () => ({ audio: summary(bytes) }));
  }

  /** The bot knows no gaps: without its length, later sound would be heard too early. */
  lostFrame(now: number): void {
    this.frame(now, new Int16Array(this.state.rate / 50));
  }

  key(now: number, digit: string): void {
    if (this.version >= 2.1) return this.tell(now, 'dtmf', { buttons: [digit] });
    this.fail(now, 'override_refused', { what: 'keys need RTVI 2.1 (Pipecat 1.6)' });
  }

  message(now: number, data: string | Uint8Array): void {
    const frame: PipecatFrame = typeof data === 'string' ? { type: 'invalid' } : readFrame(data);
    if (frame.type === 'audio') return this.audio(now, frame);
    const shown = typeof data === 'string' ? data : frame.type === 'message' ? frame.json : '';
    this.log(now, 'received', () => ({ [frame.type]: this.platform.excerpt(shown), bytes: data.length }));
    if (frame.type === 'message') return this.obey(now, readRtvi(frame.json), frame.json);
    if (frame.type === 'interruption') {
      this.hasInterruptions = true;
      return this.clear(now);
    }
    if (frame.type === 'unknown')
      this.report(now, 'unusual_frame', `A frame of ${data.length} bytes has no known member`);
    if (frame.type === 'invalid') this.invalid(now, shown || `${data.length} bytes`);
  }

  stop(now: number): void {
    this.words.turnOver(now);
    if (this.hasRtvi) this.tell(now, 'disconnect-bot');
  }

  review(facts: Omit<VoiceFacts, 'wireFindings'>): readonly WireFinding[] {
    return missedClears(facts).map(({ atMs, buffered }) => {
      const detail = `The caller interrupted while ${buffered}, and all of it was played: no interruption came`;
      return { ...pipecatFinding('no_clear_on_barge_in', detail), atMs };
    });
  }

  private audio(now: number, { bytes, rate, channels }: Of<'audio', PipecatFrame>): void {
    this.log(now, 'received', () => ({ audio: summary(bytes), rate, channels }));
    const known = AUDIO_RATES.find((one) => one === rate);
    if (!known) return this.report(now, 'unusable_rate', `Audio has the sample_rate ${rate}`);
    if (known !== this.rate && this.hasAudio) this.report(now, 'unusual_frame', `sample_rate changes to ${rate}`);
    if (channels !== 1) this.report(now, 'unusual_frame', `Audio has ${channels} channels`);
    if (bytes.length % 2 === 1) this.report(now, 'unusual_frame', 'Audio ends with half a sample');
    this.begin(now, known);
    this.hasAudio = true;
    const isWav = Buffer.from(bytes.subarray(0, 4)).toString('latin1') === 'RIFF' && bytes.length >= WAV_HEADER;
    if (isWav) this.report(now, 'unusual_frame', 'Audio has a WAV header (add_wav_header)');
    const pcm = this.decoder.push(isWav ? bytes.subarray(WAV_HEADER) : bytes);
    const heard = channels > 1 ? pcm.filter((_, n) => n % channels === 0) : pcm;
    this.side.play(now, heard, this.words.audio(now, (heard.length * 1_000) / rate));
  }

  /** Stream time 0, or another rate of the bot's audio. */
  private begin(now: number, rate = this.rate): void {
    if (this.isReady && rate === this.rate) return;
    this.isReady = true;
    this.rate = rate;
    this.side.ready(now, { toAgent: { ...PCM, rate: this.state.rate }, fromAgent: { ...PCM, rate } });
  }

  private obey(now: number, message: RtviMessage, json: string): void {
    const { side, words } = this;
    this.hasRtvi ||= message.type !== 'other' && message.type !== 'invalid';
    switch (message.type) {
      case 'ready':
        return this.ready(now, message.version);
      case 'output':
        return words.output(now, message);
      case 'transcription':
        return words.transcription(message.text);
      case 'heard':
        return side.heardCaller(now, this.clean(message.text));
      case 'tool':
        return this.toolCall(now, message);
      case 'error':
        if (message.isFatal) return this.fail(now, 'agent_error', { said: message.said });
        return this.report(now, 'error_event', `The bot said: ${this.platform.excerpt(message.said)}`);
      case 'agent_started':
        return words.turnBegins(now);
      case 'agent_stopped':
        return words.turnEnds(now);
      case 'caller_started':
        return this.callerStarted(now);
      case 'invalid':
        return this.invalid(now, json);
      case 'other':
        return;
    }
  }

  /** A bot that is ready this late was started for this call: the caller waited for its start, not for an answer. */
  private ready(now: number, version: string): void {
    if (this.isLate && !this.hasAudio && this.version === 0) {
      const what = `bot-ready came ${Math.round((now - this.openedAt) / 1_000)} s after the connection`;
      this.fail(now, 'not_ready', { what });
    }
    this.version = Number.parseFloat(version) || 0;
    this.begin(now);
  }

  /** Before RTVI 2, bots send no interruption, and the vendor's applications stop the agent themselves. */
  private callerStarted(now: number): void {
    if (this.hasInterruptions || this.version >= 2 || this.side.bufferedMs(now) <= 0) return;
    this.report(now, 'no_interruption_frame', 'user-started-speaking came, and no interruption before it');
    this.clear(now);
  }

  private clear(now: number): void {
    this.words.turnOver(now);
    this.side.clear(now);
  }

  private toolCall(now: number, call: Of<'tool', RtviMessage>): void {
    const { id, name, json } = call;
    if (this.calls.has(id) || this.calls.size >= MAX_CALLS) return;
    this.calls.set(id, call);
    if (name !== null) {
      // The core waits for a result only if there is a method that takes it: other tools are the bot's own.
      this.toolResult = this.state.mockedTools.includes(name) ? this.answer : undefined;
      this.side.toolCall(now, { id, name: this.clean(name), json: json === null ? null : this.clean(json) });
      this.toolResult = this.answer;
    } else if (this.state.showsTools) {
      this.fail(now, 'override_refused', {
        what: 'a function call has no name: set function_call_report_level of the bot',
      });
    }
  }

  private readonly answer = (now: number, id: string, json: string): void => {
    const { name: function_name, json: args } = this.calls.get(id)!;
    const call = { function_name, tool_call_id: id, arguments: JSON.parse(args!) as object };
    const result: unknown = JSON.parse(json);
    // Pipecat takes an object or a text.
    const isOne =
      typeof result === 'string' || (typeof result === 'object' && result !== null && !Array.isArray(result));
    this.tell(now, 'llm-function-call-result', { ...call, result: isOne ? result : json });
  };

  private tell(now: number, type: string, data?: object): void {
    const json = JSON.stringify({ label: RTVI.label, type, id: `vat-${type}`, ...(data && { data }) });
    this.side.send(messageFrame(json));
    this.log(now, 'sent', () => this.platform.excerpt(json));
  }

  private invalid(now: number, shown: string): void {
    this.report(now, 'invalid_message', `Not understood: ${this.platform.excerpt(shown)}`);
  }

  private clean(text: string): string {
    return this.redaction.clean(text);
  }

  private fail(now: number, code: FailureCode, detail: Parameters<JsonWire['platform']['describe']>[0]): void {
    this.side.failed(now, failure(code, this.platform.describe(detail)));
  }

  private report(now: number, code: keyof typeof PIPECAT_FINDINGS, detail: string): void {
    this.side.finding(now, pipecatFinding(code, detail));
  }
}
