import { decodeMulaw, speechBounds } from '../../../../libs/audio/index.js';
import { behaviourOf, type FaultName } from '../faults.js';
import { Ear, type Recogniser, type Utterance } from './ear.js';
import { RATE } from './frames.js';
import type { AgentLine } from './mouth.js';
import { CHOPPY, DOUBLE, Mouth, type Pacing, STEADY } from './mouth.js';
import { type Dialogue, NOT_UNDERSTOOD, type SpokenAnswer, SpokenDialogue } from './spoken-dialogue.js';
import type { Voice } from './voice.js';
import { voiceBehaviourOf, type VoiceBehaviour, type VoiceFaultName } from './voice-faults.js';

export interface VoiceAgentOptions {
  /** The planted fault; the agent is healthy without one. */
  readonly fault?: VoiceFaultName;
  /** A planted fault in what it says and does. */
  readonly wordFault?: FaultName | undefined;
  /** Milliseconds since 1970, to resolve dates such as "on Friday". */
  readonly today: number;
  /** Milliseconds from the caller's last sound to the answer; by default the answer begins when the turn counts as ended. */
  readonly responseMs?: number;
  /** Milliseconds of silence after which it takes a complete sentence for a turn; 700 by default. */
  readonly turnEndMs?: number;
  /**
   * Asks once whether the caller is still there, when neither side was heard for `afterMs` milliseconds. With `instead`, it
   * does not answer until it has asked. With `words`, it says those.
   */
  readonly asks?: { readonly afterMs: number; readonly instead?: boolean; readonly words?: string };
  /** Milliseconds that the fault `slow-answer` adds. */
  readonly slowMs?: number;
  readonly voice: Pick<Voice, 'say'>;
  readonly recogniser: Recogniser;
  /** Begins another conversation than the restaurant's. */
  readonly dialogue?: (() => Dialogue) | undefined;
  /** Tools that the other side runs. */
  readonly hostedTools?: () => ReadonlySet<string>;
  /** Called with the agent's own times of each answer. */
  readonly onAnswer?: (stamp: AnswerStamp) => void;
  /** Listens to what it sends, for the record of its call. */
  readonly recorded?: (line: AgentLine) => AgentLine;
}

/** What it asks then. */
export const STILL_THERE = 'Are you still there?';

/** The agent's own times of an answer, on the clock of its driver. */
export interface AnswerStamp {
  /** What the agent understood. */
  readonly heard: string;
  /** When the last audible sample of the caller arrived. */
  readonly callerEndMs: number;
  /** When the first byte of the answer was sent. */
  readonly firstByteMs: number;
  /** Silence at the start of the answer's audio, at most a second; for µ-law at 8 kHz. */
  readonly leadMs: number;
}

/** Silence after which a complete sentence is answered. */
const END_OF_TURN_MS = 700;
/** Silence after which a sentence that stopped in the middle, or was not understood, is answered all the same. */
const INCOMPLETE_MS = 2_000;
/** Speech of the caller after which the agent stops: if it is recognised as a line, and in any case. */
const BARGE_IN_MS = 240;
const CERTAIN_BARGE_IN_MS = 600;
const ANY_SOUND_MS = 80;
/** Interval at which speech over the agent is recognised. */
const RECOGNISE_EVERY_MS = 60;
/** Time without a further key after which the keys are complete. */
const KEYS_END_MS = 600;
/** The agent hangs up this long after its goodbye was played, whether or not the mark of the goodbye came back. */
const HANG_UP_GRACE_MS = 200;
/** The answer, counted from 1, at which the fault hangs up. */
const BROKEN_ANSWER = 2;

const pacingOf = ({ audio, encoding }: VoiceBehaviour): Pacing =>
  audio === 'choppy' ? CHOPPY : encoding === 'mulaw-16k' ? DOUBLE : STEADY;

interface PendingAnswer {
  readonly at: number;
  /** End of the utterance that it answers. */
  readonly endMs: number;
  readonly callerEndMs: number;
  readonly heard: string;
}

/**
 * The restaurant's agent on the telephone: takes turns by what it hears of the caller. It knows no protocol and has no timers
 * or sockets; its driver calls it with the time.
 */
export class VoiceAgent {
  private readonly line: AgentLine;
  private readonly behaviour: VoiceBehaviour;
  private readonly dialogue: Dialogue;
  private readonly ear: Ear;
  private readonly mouth: Mouth;
  private pending: PendingAnswer | undefined;
  private keys = '';
  private keysAt = 0;
  private answers = 0;
  /** An answer whose audio is not ready yet. */
  private unsaid: { readonly answer: SpokenAnswer; readonly onSaid: (now: number, leadMs: number) => void } | undefined;
  private then: SpokenAnswer['then'];
  /** When either side was last heard. */
  private heardAt: number | undefined;
  private hasAsked = false;
  private hasEnded = false;
  /** Whether the line knows that the caller speaks. */
  private isNoticed = false;

  /** Whether the agent has ended the call to put the caller through. */
  transfers = false;

  constructor(
    line: AgentLine,
    private readonly options: VoiceAgentOptions,
  ) {
    this.line = options.recorded?.(line) ?? line;
    this.behaviour = voiceBehaviourOf(options.fault);
    this.dialogue = options.dialogue?.() ?? this.ofRestaurant();
    this.ear = new Ear(options.recogniser);
    this.mouth = new Mouth(this.line, pacingOf(this.behaviour));
  }

  /** The call is answered: greets. */
  start(now: number): void {
    this.say(now, this.dialogue.answer());
  }

  /** Takes the caller's audio that ended at `now`, one frame of 20 ms. */
  hear(now: number, frame: Int16Array): void {
    if (this.hasEnded) return;
    this.ear.hear(now, frame);
    const { utterance } = this.ear;
    if (!utterance) {
      this.pending = undefined;
      this.isNoticed = false;
    } else if (this.mouth.isSpeaking(now)) this.listenWhileSpeaking(now, utterance);
    else this.listen(now, utterance);
    this.tick(now);
  }

  /** Takes the result of a tool that the other side has run. */
  toolResult(id: string, content: string): void {
    this.dialogue.result(id, content);
  }

  /** Answers again with the results of the tools. */
  goOn(now: number): void {
    if (!this.hasEnded) this.say(now, this.dialogue.answer());
  }

  /** Stops speaking, for no reason that the caller gave. */
  fallSilent(now: number): void {
    this.mouth.stop(now, true);
  }

  key(now: number, digit: string): void {
    if (!this.behaviour.hearsKeys) return;
    this.keys += digit;
    this.keysAt = now;
  }

  onMark(now: number, name: string): void {
    this.mouth.onMark(now, name);
  }

  tick(now: number): void {
    if (this.hasEnded) return;
    this.mouth.tick(now);
    this.sayWhenReady(now);
    this.askIfSilent(now);
    if (this.keys !== '' && (this.keys.endsWith('#') || now - this.keysAt >= KEYS_END_MS)) this.answerKeys(now);
    if (this.pending && now >= this.pending.at) this.answer(now, this.pending);
    this.hangUpIfDone(now);
  }

  private ofRestaurant(): Dialogue {
    const { today, hostedTools, wordFault } = this.options;
    return new SpokenDialogue(today, this.behaviour.isEndless, hostedTools, behaviourOf(wordFault));
  }

  private listen(now: number, utterance: Utterance): void {
    this.notice(utterance);
    const { waitsForSentence, answersAfterSpeechMs } = this.behaviour;
    const { endMs, activeMs } = utterance;
    if (this.pending?.endMs !== endMs) this.pending = undefined;
    if (this.pending) return;
    if (answersAfterSpeechMs !== undefined && activeMs >= answersAfterSpeechMs) return this.plan(now, utterance);
    const silence = now - endMs;
    const { turnEndMs = END_OF_TURN_MS, responseMs = turnEndMs } = this.options;
    if (silence < Math.min(turnEndMs, responseMs)) return;
    const heard = this.ear.recognise();
    if (heard.type === 'sound') return this.ear.drop();
    const isComplete = heard.type === 'line' && heard.isComplete;
    if (isComplete || !waitsForSentence || silence >= INCOMPLETE_MS) this.plan(now, utterance);
  }

  /** Only a line that passes it on needs to know early. */
  private notice(utterance: Utterance): void {
    if (!this.line.callerStarts || this.isNoticed || !this.isSpeech(utterance)) return;
    this.isNoticed = true;
    this.line.callerStarts();
  }

  private isSpeech({ activeMs }: Utterance): boolean {
    const isRecognised = () => activeMs % RECOGNISE_EVERY_MS === 0 && this.ear.recognise().type === 'line';
    return activeMs >= CERTAIN_BARGE_IN_MS || (activeMs >= BARGE_IN_MS && isRecognised());
  }

  private listenWhileSpeaking(now: number, utterance: Utterance): void {
    const isTaking = {
      nothing: () => false,
      'any-sound': () => utterance.segmentActiveMs >= ANY_SOUND_MS,
      speech: () => this.isSpeech(utterance),
    }[this.behaviour.yieldsTo];
    if (!isTaking()) return;
    this.isNoticed = true;
    this.line.callerStarts?.();
    this.mouth.stop(now, this.behaviour.clears);
    // The caller has more to say after a goodbye.
    this.then = undefined;
  }

  /** Plans the answer to the present utterance. */
  private plan(now: number, { endMs, lastSampleMs }: Utterance): void {
    if (this.options.asks?.instead && !this.hasAsked) return;
    const heard = this.ear.recognise();
    const { responseMs, slowMs } = this.options;
    const delayMs = this.behaviour.delayMs === 0 ? 0 : (slowMs ?? this.behaviour.delayMs);
    const at = (responseMs === undefined ? now : Math.max(now, lastSampleMs + responseMs)) + delayMs;
    this.pending = { at, endMs, callerEndMs: lastSampleMs, heard: heard.type === 'line' ? heard.text : NOT_UNDERSTOOD };
  }

  private answer(now: number, { callerEndMs, heard }: PendingAnswer): void {
    this.pending = undefined;
    // Otherwise the rest of a sentence that the agent has cut short would be an utterance of its own.
    this.ear.drop(this.behaviour.answersAfterSpeechMs !== undefined);
    if (!this.isNoticed) this.line.callerStarts?.();
    this.isNoticed = false;
    this.line.callerEnds?.(heard);
    this.say(now, this.dialogue.answer(heard), (firstByteMs, leadMs) =>
      this.options.onAnswer?.({ heard, callerEndMs, firstByteMs, leadMs }),
    );
  }

  private askIfSilent(now: number): void {
    const { asks } = this.options;
    if (!asks || this.hasAsked) return;
    const { utterance } = this.ear;
    if (utterance && this.isSpeech(utterance)) this.heardAt = Math.max(this.heardAt ?? 0, utterance.endMs);
    if (this.mouth.isSpeaking(now)) this.heardAt = now;
    if (now - (this.heardAt ?? now) < asks.afterMs) return;
    this.hasAsked = true;
    this.pending = undefined;
    this.ear.drop();
    this.say(now, { text: asks.words ?? STILL_THERE });
  }

  private answerKeys(now: number): void {
    const { keys } = this;
    this.keys = '';
    if (this.mouth.isSpeaking(now)) this.mouth.stop(now, true);
    this.say(now, this.dialogue.press(keys));
  }

  private say(
    now: number,
    answer: SpokenAnswer,
    onSaid: (now: number, leadMs: number) => void = () => undefined,
  ): void {
    this.unsaid = { answer, onSaid };
    this.sayWhenReady(now);
  }

  private sayWhenReady(now: number): void {
    if (!this.unsaid) return;
    const { answer, onSaid } = this.unsaid;
    if (answer.calls) {
      this.unsaid = undefined;
      return this.line.callTools?.(answer.calls);
    }
    const bytes = this.options.voice.say(answer.text, this.behaviour);
    if (!bytes) return;
    this.unsaid = undefined;
    this.answers += 1;
    this.then = answer.then;
    this.line.answer?.(answer, bytes.length);
    this.mouth.say(now, bytes, `answer-${this.answers}`);
    onSaid(now, (1_000 * speechBounds(decodeMulaw(bytes.subarray(0, RATE))).start) / RATE);
  }

  private hangUpIfDone(now: number): void {
    const { hangsUp } = this.behaviour;
    // The greeting is the first one.
    const isBroken = hangsUp === 'mid-sentence' && this.answers > BROKEN_ANSWER && this.mouth.isHalfway(now);
    if (isBroken) return this.end(false);
    if (this.then === undefined || this.mouth.isSpeaking(now - HANG_UP_GRACE_MS)) return;
    if (this.then === 'transfer') this.end(true);
    else if (hangsUp !== 'never') this.end(false);
  }

  private end(transfers: boolean): void {
    this.hasEnded = true;
    this.transfers = transfers;
    this.line.hangUp();
  }
}
