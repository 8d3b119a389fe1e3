import { decodeMulaw, encodeMulaw, TELEPHONE_RATE } from '../../../audio/index.js';
import { CallFailure } from '../../timeline/failure.js';
import type { PlatformEvent, VoiceFacts, WireFinding } from '../../voice/facts/facts.js';
import { type TwimlFindingCode, twimlFinding } from './findings.js';
import { PRELUDE_LIMITS } from './http-time.js';
import type { FetchedSound } from './platform-sound.js';
import type { HttpMethod, StreamNoun, Verb } from './twiml.js';

const SAMPLES_PER_MS = TELEPHONE_RATE / 1_000;
/** What is said before a stream and cannot be spoken takes this long per word (150 words per minute). */
const MS_PER_WORD = 400;
const MAX_SAY_LENGTH = 4_096;
/** By estimate: Twilio says only that `w` is half a second, as two keys. */
const MS_PER_KEY = 250;

/** Speaks text as the platform: 16-bit mono at 8,000 Hz. */
export type Speak = (text: string) => Promise<Int16Array>;

export type Fetch = (reference: string, base: string, method: HttpMethod) => Promise<readonly Verb[]>;

type CallEnd = VoiceFacts['end'];

/** What the platform itself says and plays for the agent. */
export interface PlatformSounds {
  /** Without it, words take their estimated time and are not heard. */
  readonly speak?: Speak;
  /** Fetches the file of a `<Play>`. */
  readonly fetch: (reference: string, base: string, maxMs: number) => Promise<FetchedSound>;
}

/** Executes TwiML as far as a call of the service can: verb by verb, document by document. */
export class TwimlWalk {
  /** What the documents asked for beside the stream, in order; times from the answer. */
  readonly events: PlatformEvent[] = [];
  /** What the platform said for the agent before the stream; times from the answer. */
  readonly sounds: { readonly atMs: number; readonly pcm: Int16Array }[] = [];
  /** What is not as on a call by Twilio, because this service does not play or follow it. */
  readonly findings: WireFinding[] = [];
  /** Time that the verbs so far take. */
  elapsedMs = 0;
  private limitMs: number = PRELUDE_LIMITS.verbsMs;
  /** Address of the present document. */
  base = '';
  /** The verbs after the stream. */
  private rest: readonly Verb[] = [];
  private action: { readonly url: string; readonly method: HttpMethod } | undefined;
  private redirects = 0;
  /** Files of `<Play>`, by their addresses. */
  private readonly files = new Map<string, FetchedSound>();

  /** @param shown makes what the agent said presentable */
  constructor(private readonly shown: (text: string) => string) {}

  /**
   * Goes on to `<Connect><Stream>`.
   * @throws CallFailure if it is never reached
   */
  async toStream(document: readonly Verb[], base: string, fetch: Fetch, platform: PlatformSounds): Promise<StreamNoun> {
    let verbs = document;
    this.base = base;
    for (let index = 0; index < verbs.length; index++) {
      const verb = verbs[index]!;
      if (verb.verb === 'connect' && verb.stream) {
        const { statusCallback } = verb.stream;
        const callback = `<Stream statusCallback>: ${this.shown(statusCallback ?? '')}, which is not called`;
        if (statusCallback !== undefined) this.note(callback);
        this.rest = verbs.slice(index + 1);
        this.action = verb.action === undefined ? undefined : { url: verb.action, method: verb.method };
        return verb.stream;
      }
      const ending = this.endingBefore(verb);
      if (ending !== undefined) throw new CallFailure('invalid_twiml', ending);
      if (verb.verb !== 'redirect') await this.pass(verb, platform);
      const target = targetOf(verb);
      if (!target) continue;
      verbs = await this.next(target.url, target.method, fetch);
      index = -1;
    }
    const isOneWay = this.events.some(({ detail }) => detail.startsWith('<Start>'));
    throw new CallFailure(
      'invalid_twiml',
      isOneWay
        ? 'it has only <Start><Stream>, which is one-way: the agent cannot speak; use <Connect><Stream>'
        : 'it has no <Connect><Stream>',
    );
  }

  /**
   * What follows after the stream: the document of `action`, else the rest of the present one. The verbs take their time on the
   * call's clock, and are not awaited.
   * @param maxMs how long the call may last
   * @returns how the call ends
   */
  async afterStream(end: CallEnd, maxMs: number, fetch: Fetch, platform: PlatformSounds): Promise<CallEnd> {
    this.elapsedMs = end.atMs;
    this.limitMs = Math.max(maxMs, end.atMs);
    let last: Verb | undefined;
    let verbs = this.action ? await this.next(this.action.url, this.action.method, fetch) : this.rest;
    for (let index = 0; index < verbs.length; index++) {
      const verb = verbs[index]!;
      if (verb.verb === 'dial') {
        this.note(this.shown(verb.to), 'transfer');
        return { ...end, atMs: this.elapsedMs };
      }
      if (verb.verb === 'hangup' || verb.verb === 'reject') {
        last = undefined;
        break;
      }
      if (verb.verb !== 'redirect') {
        const isSilent = isWait(verb) && (verb.verb !== 'gather' || verb.verbs.every(isWait));
        const detail = `After the stream the TwiML goes on with ${this.describe(verb)}`;
        if (!isSilent) this.find('after_stream_not_followed', detail);
        await this.pass(verb, platform);
        // The call would go on; the caller hears no more of it.
        if (verb.verb === 'connect') return { ...end, atMs: this.elapsedMs };
        last = verb;
      }
      if (this.leftMs === 0 && this.elapsedMs > end.atMs) {
        return { by: 'tester', code: 'max_duration', reason: 'The call reached its maximum duration', atMs: maxMs };
      }
      const target = targetOf(verb);
      if (!target) continue;
      verbs = await this.next(target.url, target.method, fetch);
      index = -1;
    }
    this.note('The TwiML ended', 'hang_up');
    if (!last || !isWait(last) || end.code === 'connection_closed') return { ...end, atMs: this.elapsedMs };
    const seconds = ((this.elapsedMs - end.atMs) / 1_000).toFixed(1);
    const reason = `The agent closed the stream; its TwiML kept the call open for ${seconds} s (${this.describe(last)}) and ended`;
    return { by: 'tester', code: 'platform_hung_up', reason, atMs: this.elapsedMs };
  }

  private async next(reference: string, method: HttpMethod, fetch: Fetch): Promise<readonly Verb[]> {
    if (++this.redirects > PRELUDE_LIMITS.redirects) {
      throw new CallFailure('timeout', `its TwiML redirects more than ${PRELUDE_LIMITS.redirects} times`);
    }
    const verbs = await fetch(reference, this.base, method);
    this.base = new URL(reference, this.base).href;
    return verbs;
  }

  /** A verb that takes the call elsewhere, in words. */
  private endingBefore(verb: Verb): string | undefined {
    switch (verb.verb) {
      case 'hangup':
        return 'it hangs up (<Hangup>) before it connects a stream';
      case 'reject':
        return 'it rejects the call (<Reject>)';
      case 'dial':
        return `it transfers the call (<${verb.name}>) to ${this.shown(verb.to)} before it connects a stream`;
      case 'connect':
        return `it connects <${this.shown(verb.noun)}>, not <Stream>`;
      default:
        return undefined;
    }
  }

  /** A verb that takes its time, or is not executed. */
  private async pass(verb: Verb, platform: PlatformSounds): Promise<void> {
    this.note(this.describe(verb));
    if (verb.verb === 'say') await this.say(verb.text, verb.loop, platform.speak);
    else if (verb.verb === 'play' && verb.keys !== undefined) this.take(msOfKeys(verb.keys) * verb.loop);
    else if (verb.verb === 'play') await this.play(verb.url, verb.loop, platform);
    else if (verb.verb === 'pause') this.take(verb.seconds * 1_000);
    else if (verb.verb === 'gather') {
      for (const nested of verb.verbs) await this.pass(nested, platform);
      this.take(verb.seconds * 1_000);
    }
  }

  private async say(text: string, times: number, speak: Speak | undefined): Promise<void> {
    const pcm = speak && (await spoken(speak, text.slice(0, MAX_SAY_LENGTH)));
    if (pcm) return this.repeat(pcm, times);
    const ms = text.split(/\s+/).length * MS_PER_WORD;
    for (let time = 0; time < times && this.leftMs > 0; time++) this.take(ms);
  }

  private async play(url: string, times: number, platform: PlatformSounds): Promise<void> {
    if (this.leftMs === 0) return;
    const sound = await this.file(url, platform);
    if ('pcm' in sound) return this.repeat(sound.pcm, times);
    const detail = `The caller did not hear <Play> of ${this.shown(url)}: ${this.shown(sound.problem)}. Its duration is unknown`;
    this.find('play_not_heard', detail);
  }

  /** Each address is fetched once. */
  private async file(url: string, { fetch }: PlatformSounds): Promise<FetchedSound> {
    if (url === '') return { problem: 'it has no address' };
    const address = URL.canParse(url, this.base) ? new URL(url, this.base).href : url;
    const known = this.files.get(address);
    if (known) return known;
    if (this.files.size === PRELUDE_LIMITS.plays) {
      throw new CallFailure('timeout', `its TwiML plays more than ${PRELUDE_LIMITS.plays} files before the stream`);
    }
    const sound = await fetch(url, this.base, this.leftMs);
    this.files.set(address, sound);
    return sound;
  }

  private repeat(pcm: Int16Array, times: number): void {
    if (pcm.length === 0) return;
    // As the platform sends it down the line.
    const heard = decodeMulaw(encodeMulaw(pcm));
    for (let time = 0; time < times && this.leftMs > 0; time++) {
      this.sounds.push({ atMs: this.elapsedMs, pcm: heard.subarray(0, this.leftMs * SAMPLES_PER_MS) });
      this.take(heard.length / SAMPLES_PER_MS);
    }
  }

  /** Once for each code. */
  find(code: TwimlFindingCode, detail: string, atMs = this.elapsedMs): void {
    if (this.findings.every((finding) => finding.code !== code)) {
      this.findings.push({ ...twimlFinding(code, detail), atMs });
    }
  }

  note(detail: string, type: PlatformEvent['type'] = 'note'): void {
    this.events.push({ type, atMs: this.elapsedMs, detail });
  }

  private take(ms: number): void {
    this.elapsedMs = Math.min(this.limitMs, this.elapsedMs + ms);
  }

  private get leftMs(): number {
    return this.limitMs - this.elapsedMs;
  }

  private describe(verb: Verb): string {
    switch (verb.verb) {
      case 'say':
        return `<Say>: "${this.shown(verb.text)}"`;
      case 'play':
        return verb.keys === undefined
          ? `<Play>: ${this.shown(verb.url)}`
          : `<Play> of the keys ${this.shown(verb.keys)}`;
      case 'pause':
        return `<Pause> of ${verb.seconds} s`;
      case 'start':
        return '<Start>: a one-way stream, which is not opened';
      case 'gather':
        return `<Gather>: the caller presses no key within ${verb.seconds} s`;
      case 'connect':
        return `<Connect> of <${this.shown(verb.noun)}>, which is not connected`;
      case 'other':
        return `<${this.shown(verb.name)}>, which is not executed`;
      default:
        return `<${verb.verb}>`;
    }
  }
}

/** The document that the call goes on with after a verb. */
const targetOf = (verb: Verb) => (verb.verb === 'redirect' ? verb : verb.verb === 'gather' ? verb.onEmpty : undefined);

/** Whether it takes time in which the platform waits. */
const isWait = (verb: Verb): boolean => verb.verb === 'pause' || verb.verb === 'gather';

const msOfKeys = (keys: string): number => MS_PER_KEY * keys.replaceAll('w', 'ww').length;

/** Undefined for text that the voice can never speak, such as another script: it takes its estimated time. */
async function spoken(speak: Speak, text: string): Promise<Int16Array | undefined> {
  try {
    return await speak(text);
  } catch (error) {
    if (error instanceof Error && 'isPermanent' in error && error.isPermanent === true) return undefined;
    throw error;
  }
}
