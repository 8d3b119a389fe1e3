import { AgentTurns, type HeardAgent } from '../hearing/agent-turns.js';
import type { CallerActs, SayStep } from '../speaking/caller-acts.js';
import type { AgentTurnFact, SayAct, Span, ThinkingFact, VoiceFacts } from '../facts/facts.js';
import { type Failure, failure } from '../../timeline/failure.js';
import { endedBy, type EndCode } from '../../timeline/end-codes.js';
import type { LineRest, PreparedStep, VoiceCallPlan } from '../facts/plan.js';
import type { TurnAnswer } from '../facts/turn-question.js';
import { ArmedSteps, isArmed } from './armed-steps.js';
import { neverSilent, reasonOf } from './end-reasons.js';
import { Fillers } from './fillers.js';
import { isInterruption, STOPPING_MS } from './interruptions.js';
import { SENTENCE_PAUSE_MS } from './open-line.js';
import { type CallerPort, ScriptPort } from './script-port.js';

/** How long the caller waits for a greeting before it speaks first. */
export const GREETING_MS = 3_000;
/** Interval at which a long turn is searched for background audio. */
const ENDLESS_EVERY_MS = 200;
/** The caller hangs up after this many unanswered lines in a row. */
const MAX_SILENCES = 2;
/** How long the caller stays silent after a noise in silence: an agent that answers noises does so in this time. */
const QUIET_AFTER_NOISE_MS = 2_000;

export interface TurnPolicyOptions {
  readonly plan: VoiceCallPlan;
  readonly heard: HeardAgent & {
    /** State of the playout buffer at a given time. @param sinceMs end of the caller's previous line */
    playoutAt(atMs: number, sinceMs: number): { readonly bufferedMs: number; readonly heardUntilMs: number };
  };
  readonly caller: CallerActs;
  /** Access to the caller, which is asked what it does if the plan does not decide it. */
  readonly port: CallerPort;
  /** Earliest call time at which a sound of the caller can begin. */
  readonly streamStartMs: number;
}

/** What the caller waits for, which decides what it does if nothing is heard. */
type Awaited = 'greeting' | 'answer' | 'answer_to_keys';
type State =
  | { readonly name: 'speaking'; readonly line: Span }
  /** The agent has the turn. */
  | { readonly name: 'listening'; readonly sinceMs: number; readonly awaits: Awaited | null }
  /** The caller has the turn and says nothing. */
  | { readonly name: 'pausing'; readonly untilMs: number }
  /** The caller has the turn and thinks. */
  | { readonly name: 'deciding' };

/**
 * Decides when the caller acts, by what it hears of the agent. What the caller does comes from the script, or the caller is asked.
 * Hearing never stops: the policy is consulted after each frame, and both sides may make sound at any time. All times are call
 * time.
 */
export class TurnPolicy {
  readonly silences: VoiceFacts['silences'][number][] = [];
  /** Set when the caller or a limit has ended the call. */
  end: Omit<VoiceFacts['end'], 'atMs'> | undefined;
  /** Set with `end` if the call failed, for instance because the end of a turn stayed unknown. */
  failure: Failure | undefined;

  private readonly turns: AgentTurns;
  private readonly caller: CallerActs;
  private readonly script: ScriptPort;
  private readonly fillers: Fillers;
  private readonly armed: ArmedSteps;
  private state: State;
  private floor: Span | undefined;
  private lastLine: SayStep | undefined;
  private unanswered = 0;
  /** Number of the latest turn of the caller that the agent answered; -1: none. */
  private lastAnswered = -1;
  private answered = 0;
  private hasGreeted = false;
  /** End of keys for which the agent has not had time to answer yet. */
  private keysEndMs: number | undefined;
  /** Earliest time at which a sound can still begin. */
  private earliest = 0;
  private wait: { readonly startMs: number; readonly endMs: number } | undefined;

  constructor(private readonly options: TurnPolicyOptions) {
    this.caller = options.caller;
    this.script = new ScriptPort(options.plan, options.port);
    this.fillers = new Fillers(options.plan, options.caller);
    this.armed = new ArmedSteps(this.script, this.caller, options.plan);
    this.turns = new AgentTurns(options.heard, options.plan.turnEndMs, (atMs) => this.caller.turnAt(atMs));
    const { streamStartMs } = options;
    if (options.plan.firstSpeaker === 'caller') this.state = { name: 'pausing', untilMs: streamStartMs };
    else {
      this.state = { name: 'listening', sinceMs: streamStartMs, awaits: 'greeting' };
      this.armed.arm();
    }
  }

  /** Number of the caller's turns that the agent answered, including the greeting. */
  get answeredTurns(): number {
    return this.answered + (this.hasGreeted ? 1 : 0);
  }

  /** Whether the caller thinks. */
  get isThinking(): boolean {
    return this.script.isThinking;
  }

  /** Steps of the caller's answers. */
  answer(answer: TurnAnswer): void {
    this.script.answer(answer);
  }

  /** Acts on what was heard until a given time. @param earliestMs earliest time at which a sound can still begin */
  decide(untilMs: number, earliestMs: number): void {
    this.earliest = earliestMs;
    this.turns.listen(this.floor);
    if (untilMs >= this.options.plan.maxDurationSeconds * 1_000) return this.stop('tester', 'max_duration');
    if (this.options.plan.listenMs !== undefined) return this.endTest(untilMs, this.options.plan.listenMs);
    while (!this.end && this.advance(untilMs)) this.turns.listen(this.floor);
    if (this.state.name !== 'listening') this.endTurnAside(untilMs);
  }

  /** A connection test only listens, unless the agent waits for the caller. */
  private endTest(untilMs: number, listenMs: number): void {
    const { heard, plan, streamStartMs } = this.options;
    const first = heard.sounds.find(({ startMs, isBackground }) => startMs >= streamStartMs && !isBackground);
    const isOver = plan.firstSpeaker === 'caller' || (first !== undefined && untilMs >= first.startMs + listenMs);
    if (isOver) this.stop('caller', 'caller_done', 'The agent was heard');
  }

  agentTurns(callEndMs: number): AgentTurnFact[] {
    // An answer that the end of the call cut off counts.
    if (this.turns.isAnswer) this.noteAnswer();
    return this.turns.until(callEndMs);
  }

  /** Silences until the end of the call, including the caller's last wait, which the end cut off. */
  silencesUntil(callEndMs: number): VoiceFacts['silences'] {
    const { wait } = this;
    if (wait && wait.startMs < callEndMs) this.noteSilence('caller', wait.startMs, Math.min(wait.endMs, callEndMs));
    this.wait = undefined;
    return this.silences;
  }

  thoughtUntil(callEndMs: number): readonly ThinkingFact[] {
    return this.script.thoughtUntil(this.caller.turn + 1, callEndMs);
  }

  /** The agent's turns also end while the caller speaks or waits. */
  private endTurnAside(untilMs: number): void {
    const endedAt = this.turns.endAfterSilence(untilMs, this.options.streamStartMs);
    if (endedAt !== undefined && this.state.name === 'pausing') this.noteAnswer();
  }

  /** @returns whether anything changed, so that more may be due */
  private advance(untilMs: number): boolean {
    switch (this.state.name) {
      case 'speaking':
        return this.finishLine(this.state.line, untilMs);
      case 'listening':
        return this.listen(this.state, untilMs);
      case 'pausing':
        return this.finishPause(this.state.untilMs, untilMs);
      case 'deciding':
        return this.finishThinking(untilMs);
    }
  }

  /** Until the caller has decided, a sound of the agent takes the turn back, and the caller is asked again. */
  private finishThinking(untilMs: number): boolean {
    const turn = this.caller.turn + 1;
    const { openSinceMs } = this.turns;
    if (openSinceMs !== undefined) {
      this.script.interrupt(turn, openSinceMs);
      this.script.line.drop();
      return this.enter({ name: 'listening', sinceMs: openSinceMs, awaits: null });
    }
    if (this.options.heard.isOnsetPending || this.isAgentStopping(untilMs)) return false;
    if (this.fillers.isHeard(turn, this.script.thinkingSinceMs, untilMs, this.earliest)) return false;
    const decision = this.script.decide(turn, this.earliest, this.options.heard.sounds.at(-1)?.endMs ?? 0);
    if (decision === undefined) return false;
    if (decision === 'decided') return this.act(untilMs);
    if ('unusable' in decision) this.stop('tester', 'caller_broken', decision.unusable);
    else this.fail(decision.failure);
    return true;
  }

  private think(atMs: number, isSilent = false): boolean {
    const { lastLine, caller } = this;
    const interruption = isInterruption(lastLine) && { interruption: { text: lastLine.text, turn: caller.turn } };
    this.script.ask(Math.max(atMs, this.earliest), { isSilent, ...interruption });
    return this.enter({ name: 'deciding' });
  }

  /** Whether the agent still speaks after the caller has interrupted it. */
  private isAgentStopping(untilMs: number): boolean {
    return isInterruption(this.lastLine) && this.turns.isTailOpen && untilMs < this.floor!.startMs + STOPPING_MS;
  }

  private finishLine(line: Span, untilMs: number): boolean {
    if (isInterruption(this.lastLine)) {
      if (untilMs < line.endMs) return false;
      this.caller.breakLine();
      return this.think(line.endMs);
    }
    const { line: open } = this.script;
    const isLate = untilMs >= line.endMs + SENTENCE_PAUSE_MS;
    const next = isLate ? undefined : open.takeSentence();
    if (next) return this.goOn(next);
    if (untilMs < line.endMs || (open.hasRest && !isLate && !this.turns.isOpen)) return false;
    if (open.hasRest) this.caller.breakLine();
    if (this.turns.isOpen) open.drop();
    if (open.hasRest) {
      this.script.awaitRest(line.endMs);
      return this.enter({ name: 'deciding' });
    }
    this.armed.arm();
    this.armed.armInterruption();
    return this.enter({ name: 'listening', sinceMs: line.endMs, awaits: 'answer' });
  }

  private goOn(rest: LineRest): boolean {
    this.floor = this.caller.extend(rest, SENTENCE_PAUSE_MS);
    this.script.line.say(rest.text, rest.hasRest);
    const line = this.lastLine!;
    const parts = [...line.parts, { pauseMs: SENTENCE_PAUSE_MS }, rest.sound];
    this.lastLine = { ...line, text: `${line.text} ${rest.text}`, parts };
    return this.enter({ name: 'speaking', line: this.floor });
  }

  private finishPause(endMs: number, untilMs: number): boolean {
    if (untilMs < endMs) return false;
    this.silencesUntil(endMs);
    return this.act(endMs);
  }

  private listen({ sinceMs, awaits }: State & { name: 'listening' }, untilMs: number): boolean {
    const isAnswer = awaits === null || awaits === 'greeting' || this.turns.wasHeardAfter(sinceMs);
    const isAnswering = this.turns.isOpen && isAnswer;
    if (isAnswering && this.fireArmed(untilMs)) return true;
    const endedAt = this.turns.endAfterSilence(untilMs, this.options.streamStartMs);
    if (endedAt !== undefined && isAnswering) {
      this.noteAnswer();
      return this.actAfterTurn(endedAt);
    }
    if (this.turns.isOpen && isAnswer) return this.endIfNeverSilent(untilMs);
    if (awaits === null) return this.actAfterTurn(sinceMs);
    if (awaits !== 'greeting') return this.losePatience(Math.max(sinceMs, this.turns.tailEndMs), awaits, untilMs);
    const giveUpAt = sinceMs + GREETING_MS;
    return untilMs >= giveUpAt && !this.options.heard.isOnsetPending && this.actAfterTurn(giveUpAt);
  }

  /** Gives up the wait for an end of turn that background audio hides. */
  private endIfNeverSilent(untilMs: number): boolean {
    if (untilMs % ENDLESS_EVERY_MS !== 0) return false;
    const levels = this.options.heard.endless;
    if (!levels) return false;
    this.fail(failure('never_silent', neverSilent(levels)));
    return true;
  }

  /** Performs the pending steps that are due. */
  private fireArmed(untilMs: number): boolean {
    const due = this.armed.takeDue(this.turns, untilMs);
    if (!due) return false;
    const atMs = Math.max(due.atMs, this.earliest);
    if (due.step.type !== 'say') {
      this.caller.sound(due.step, atMs);
      return true;
    }
    this.noteAnswer(isInterruption(due.step));
    this.armed.leaveOut(atMs);
    return this.speak(due.step, atMs, { bargeIn: this.bargeInAt(due.step, atMs, true) });
  }

  private losePatience(sinceMs: number, awaits: Awaited, untilMs: number): boolean {
    // The agent may be unable to speak until it has the result of a tool.
    const givesUpAt = Math.max(sinceMs, this.options.port.resultsDueMs()) + this.options.plan.patienceMs;
    const mayAnswer = this.options.heard.isOnsetPending || this.turns.isTailOpen;
    if (untilMs < givesUpAt || mayAnswer) return false;
    this.noteSilence('agent', sinceMs, givesUpAt);
    this.unanswered++;
    if (this.unanswered >= MAX_SILENCES) return this.hangUp('agent_silent');
    if (awaits === 'answer' && this.script.decidesInSilence) return this.think(givesUpAt, true);
    if (awaits === 'answer' && this.lastLine) return this.speak(this.lastLine, givesUpAt, { repeated: true });
    return this.actAfterTurn(givesUpAt);
  }

  /** Drops the pending steps after the agent's turn has ended, or if there was none. */
  private actAfterTurn(atMs: number): boolean {
    const { bargeIn: barge } = this.armed;
    this.armed.leaveOut(atMs);
    this.keysEndMs = undefined;
    if (!barge) return this.act(atMs);
    return this.speak(barge, atMs, { bargeIn: this.bargeInAt(barge, Math.max(atMs, this.earliest), false) });
  }

  /** Performs the next step at the caller's turn. */
  private act(atMs: number): boolean {
    const next = this.script.next();
    const step = next === 'asked' ? undefined : next;
    // After a pause the agent may be speaking; the caller just stays silent.
    if (this.turns.isOpen && step?.type !== 'wait')
      return this.enter({ name: 'listening', sinceMs: atMs, awaits: null });
    const dependsOnAgent = !step || step.type === 'end' || isArmed(step);
    if (dependsOnAgent && this.keysEndMs !== undefined) return this.awaitKeys(this.keysEndMs);
    if (next === 'asked') return this.think(atMs);
    if (!step) return this.hangUp('script_over');
    if (step.type === 'end') return this.hangUp(step.code ?? 'caller_done', step.reason);
    if (isArmed(step)) {
      this.armed.arm();
      return this.actAfterTurn(atMs);
    }
    this.script.take();
    return this.perform(step, Math.max(atMs, this.earliest));
  }

  private perform(step: Exclude<PreparedStep, { type: 'end' }>, atMs: number): boolean {
    switch (step.type) {
      case 'say':
        return this.speak(step, atMs, {});
      case 'wait':
        return this.pause(atMs, atMs + step.ms);
      case 'press':
        this.keysEndMs = this.caller.press(step, atMs);
        return this.enter({ name: 'pausing', untilMs: this.keysEndMs });
      default: {
        const endMs = this.caller.sound(step, atMs);
        return this.pause(endMs, endMs + QUIET_AFTER_NOISE_MS);
      }
    }
  }

  private pause(startMs: number, endMs: number): boolean {
    // The agent has had its time to answer earlier keys.
    this.keysEndMs = undefined;
    this.wait = { startMs, endMs };
    return this.enter({ name: 'pausing', untilMs: endMs });
  }

  /** Gives the agent time to act on keys before what ends the call or depends on the agent's speech. */
  private awaitKeys(sinceMs: number): boolean {
    this.keysEndMs = undefined;
    this.armed.arm();
    return this.enter({ name: 'listening', sinceMs, awaits: 'answer_to_keys' });
  }

  private speak(step: SayStep, atMs: number, more: Pick<SayAct, 'repeated' | 'bargeIn'>): boolean {
    if (this.answered >= this.options.plan.maxTurns) {
      this.stop('tester', 'max_turns');
      return true;
    }
    this.keysEndMs = undefined;
    this.lastLine = step;
    this.turns.callerTakesFloor(Math.max(atMs, this.earliest));
    if (!isInterruption(step)) this.script.line.say(step.text, step.hasRest === true && !more.repeated);
    this.floor = this.caller.say(step, Math.max(atMs, this.earliest), more);
    return this.enter({ name: 'speaking', line: this.floor });
  }

  private bargeInAt(step: SayStep, atMs: number, possible: boolean): NonNullable<SayAct['bargeIn']> {
    const afterMs = step.bargeIn?.afterMs ?? 0;
    const playout = this.options.heard.playoutAt(atMs, this.floor?.endMs ?? 0);
    return {
      afterMs,
      possible,
      afterHeardMs: possible ? this.turns.audibleMs(atMs) : this.turns.lastAudibleMs,
      ...playout,
    };
  }

  /** @param isCut whether the caller cut the answer of its own accord; neither that answer nor one to the interruption counts */
  private noteAnswer(isCut = false): void {
    this.unanswered = 0;
    const { turn } = this.caller;
    if (turn <= this.lastAnswered) return;
    this.lastAnswered = turn;
    if (turn === 0) this.hasGreeted = true;
    else if (!isCut && !isInterruption(this.lastLine)) this.answered++;
  }

  private noteSilence(of: 'agent' | 'caller', startMs: number, endMs: number): void {
    this.silences.push({ of, turn: this.caller.turn, startMs, endMs });
  }

  private enter(state: State): true {
    this.state = state;
    return true;
  }

  private hangUp(code: EndCode, reason?: string): boolean {
    this.stop(endedBy(code), code, reason);
    return true;
  }

  private fail(broken: Failure): void {
    this.failure = broken;
    this.stop('tester', 'failure', broken.message);
  }

  private stop(by: VoiceFacts['end']['by'], code: EndCode, reason = reasonOf(code)): void {
    this.end = { by, code, reason };
  }
}
