import {
  type AnswersStep,
  type BackchannelStep,
  type Condition,
  type EndStep,
  lineText,
  type NoiseStep,
  type PressStep,
  type SayStep,
  type ScriptStep,
  type SpokenLine,
  startsDuringTurnAfter,
} from '../../evaluation-definition/index.js';
import { normaliseText } from '../../text/index.js';
import type { YieldToEventLoop } from '../time/yield-to-event-loop.js';
import { holds } from '../matching/matching.js';
import { asks, saysGoodbye } from '../matching/phrases.js';
import type { ScriptSource } from '../timeline/timeline.js';
import { agentRepeats, type Exchange, noAnswer } from './agent-repeats.js';
import type { AgentReply, Caller, CallerAction, CallerLine, ScriptedSound } from './caller.js';

/** How often in a row the caller says `otherwise` to the same line of the agent, and to any lines. */
const MAX_OTHERWISE = { sameLine: 3, anyLine: 6 } as const;

interface ScriptLine {
  readonly line: CallerLine;
  readonly script: ScriptSource;
}

interface Progress {
  readonly position: number;
  /** Whether the step at `position` has started: its `when` is evaluated only once. */
  readonly hasStarted: boolean;
  readonly lastLine: ScriptLine | undefined;
  /** Positions of the lines that were said to the words that they answer. */
  readonly given: readonly number[];
  /** The agent's lines to which the caller has said `otherwise` since it last had an answer, normalised. */
  readonly unanswered: readonly string[];
  /** What the caller said in the present step with answers. */
  readonly exchanges: readonly Exchange[];
  /** The agent's latest words; undefined before the caller was asked. */
  readonly answer: string | undefined;
}

const BEGINNING: Progress = {
  position: 0,
  hasStarted: false,
  lastLine: undefined,
  given: [],
  unanswered: [],
  exchanges: [],
  answer: undefined,
};

/**
 * A caller that follows a script (libs/evaluation-definition). It says its lines and nothing else; without an answer it
 * repeats the last line. It hangs up with `no_answer` when only `otherwise` is left, again and again, and the call ends with
 * `agent_repeats` when its answers change nothing.
 */
export class ScriptedCaller implements Caller {
  readonly kind = 'scripted';
  private now = BEGINNING;
  /** Before the latest `next`. */
  private before = BEGINNING;

  constructor(
    private readonly script: readonly ScriptStep[],
    private readonly yieldToEventLoop: YieldToEventLoop,
  ) {}

  async next({ answer, isSilent }: AgentReply): Promise<CallerAction> {
    this.before = this.now;
    this.note({ answer });
    const { lastLine } = this.now;
    if (isSilent && lastLine !== undefined) {
      return { type: 'speak', line: lastLine.line, script: { ...lastLine.script, repeated: true } };
    }
    for (let step = this.step; step; step = this.step) {
      const action = await this.actionOf(step, answer);
      if (action) return action;
      this.advance();
    }
    return SCRIPT_OVER;
  }

  async ahead(): Promise<CallerAction | undefined> {
    for (let step = this.step; step; step = this.step) {
      if ('answers' in step || this.isRecalled) return undefined;
      const { answer } = this.now;
      // What is done while the agent speaks has to be decided before.
      const isDecided = !step.when || (answer !== undefined && startsDuringTurnAfter(step) !== undefined);
      if (!isDecided) return undefined;
      const action = await this.actionOf(step, answer ?? '');
      if (action) return action;
      this.advance();
    }
    return SCRIPT_OVER;
  }

  retract(): void {
    this.now = this.before;
  }

  private get step(): ScriptStep | undefined {
    return this.script[this.now.position];
  }

  /** Whether lines or the end depend on the words of the agent. */
  private get isRecalled(): boolean {
    return this.script.some((step) => ('say' in step && step.to) || ('end' in step && step.unless));
  }

  /** The steps whose lines answer these words. */
  private async linesTo(answer: string): Promise<number[]> {
    const found: number[] = [];
    for (const [at, step] of this.script.entries()) {
      if ('say' in step && step.to && (await this.holds(step.to, answer))) found.push(at);
    }
    return found;
  }

  /** A line ahead that answers these words, or `no_answer` where the script ends and none does. */
  private async recalled(step: SayStep | EndStep, answer: string): Promise<CallerAction | undefined> {
    const lines = answer === '' || !this.isRecalled ? [] : await this.linesTo(answer);
    const at = lines.find((each) => !this.now.given.includes(each));
    if (at !== undefined) {
      this.note({ given: [...this.now.given, at] });
      if (at === this.now.position) this.advance();
      return this.speak({ line: partsOf((this.script[at] as SayStep).say), script: { step: at } });
    }
    const end = 'end' in step ? step : this.script.at(-1);
    const unless = end && 'end' in end ? end.unless : undefined;
    if (unless === undefined || lines.length > 0 || answer === '') return undefined;
    // A goodbye would end the call, whatever the agent asks.
    const isOver = 'end' in step || saysGoodbye(lineText(step.say));
    // Without punctuation it is not known whether the agent asks.
    const isAsked = asks(answer) || !/[.!?…。？！]/u.test(answer);
    const isOpen = isAsked || (unless === 'answered' && 'end' in step);
    return isOver && isOpen ? noAnswer(answer) : undefined;
  }

  private note(change: Partial<Progress>): void {
    this.now = { ...this.now, ...change };
  }

  /** What the caller does in this step; undefined when the next step takes the turn. */
  private async actionOf(step: ScriptStep, answer: string): Promise<CallerAction | undefined> {
    if (!this.now.hasStarted && step.when && !(await this.holds(step.when, answer))) return undefined;
    this.note({ hasStarted: true });
    const script = { step: this.now.position };
    if ('answers' in step) {
      const line = await this.lineOf(step, answer);
      if (line?.script.otherwise && this.isStuck(answer)) return noAnswer(answer);
      if (!line) return undefined;
      return agentRepeats(answer, this.now.exchanges) ?? this.speak(line, answer);
    }
    if ('end' in step || 'say' in step) {
      const recalled = await this.recalled(step, answer);
      if (recalled) return recalled;
    }
    if ('end' in step) return { type: 'hang_up', code: 'caller_done', reason: step.end, script };
    this.advance();
    if ('say' in step) {
      const action = this.speak({ line: partsOf(step.say), script });
      return step.bargeIn ? { ...action, bargeIn: step.bargeIn } : action;
    }
    if ('waitSeconds' in step) return { type: 'wait', ms: step.waitSeconds * 1000, script };
    const afterMs = startsDuringTurnAfter(step);
    return { type: 'sound', ...soundOf(step), script, ...(afterMs !== undefined && { afterMs }) };
  }

  private advance(): void {
    let position = this.now.position + 1;
    while (this.now.given.includes(position)) position++;
    this.note({ position, hasStarted: false });
  }

  /** @param heard what the line answers, in an `answers` step */
  private speak(line: ScriptLine, heard?: string) {
    const { otherwise: isOtherwise = false } = line.script;
    const said = lineText(line.line);
    const exchanges = heard === undefined ? [] : [...this.now.exchanges, { heard, said, isOtherwise }];
    this.note({ lastLine: line, exchanges, ...(!isOtherwise && { unanswered: [] }) });
    return { type: 'speak', ...line } as const;
  }

  /** Whether `otherwise` would be said too often in a row; counts this use. */
  private isStuck(answer: string): boolean {
    // Before the agent's first words there is nothing to answer.
    if (answer === '') return false;
    const { unanswered } = this.now;
    const line = normaliseText(answer);
    const latest = unanswered.slice(-MAX_OTHERWISE.sameLine);
    if (unanswered.length >= MAX_OTHERWISE.anyLine) return true;
    if (latest.length === MAX_OTHERWISE.sameLine && latest.every((one) => one === line)) return true;
    this.note({ unanswered: [...unanswered, line] });
    return false;
  }

  /** The caller's line in this step; undefined when the next step takes the turn. */
  private async lineOf({ answers, until, otherwise }: AnswersStep, answer: string): Promise<ScriptLine | undefined> {
    if (until && (await this.holds(until, answer))) return undefined;
    const step = this.now.position;
    const fitting: number[] = [];
    for (const [index, { when }] of answers.entries()) if (await this.holds(when, answer)) fitting.push(index);
    if (fitting.length > 0) {
      const line = fitting.flatMap((index) => partsOf(answers[index]!.say));
      return { line, script: { step, answers: fitting } };
    }
    return until && otherwise !== undefined ? { line: [otherwise], script: { step, otherwise: true } } : undefined;
  }

  /** Whether a condition holds for the agent's last response. */
  private async holds(condition: Condition, answer: string): Promise<boolean> {
    await this.yieldToEventLoop();
    return holds(condition, answer);
  }
}

const SCRIPT_OVER: CallerAction = { type: 'hang_up', code: 'script_over', reason: 'The script ended' };

const partsOf = (line: SpokenLine): CallerLine => (typeof line === 'string' ? [line] : line);

function soundOf(step: BackchannelStep | NoiseStep | PressStep): ScriptedSound {
  if ('backchannel' in step) return { kind: 'backchannel', name: step.backchannel };
  if ('noise' in step) return { kind: 'noise', name: step.noise };
  return { kind: 'keys', name: step.press };
}
