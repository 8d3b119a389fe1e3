import {
  type AnswersStep,
  type BackchannelStep,
  type Condition,
  lineText,
  type NoiseStep,
  type PressStep,
  type ScriptStep,
} from '../../evaluation-definition/index.js';
import { normaliseText } from '../../text/index.js';
import type { YieldToEventLoop } from '../time/yield-to-event-loop.js';
import { matches } from '../matching/matching.js';
import { truncate } from '../timeline/text.js';
import type { ScriptSource, SoundEntry } from '../timeline/timeline.js';
import type { Caller, CallerAction, AgentReply } from './caller.js';

/** How often in a row the caller says `otherwise` to the same line of the agent, and to any lines. */
const MAX_OTHERWISE = { sameLine: 3, anyLine: 6 } as const;
const MAX_QUOTE = 300;

interface ScriptLine {
  readonly text: string;
  readonly script: ScriptSource;
}

/**
 * A caller that follows a script (libs/evaluation-definition). It says its lines and nothing else; without an answer it
 * repeats the last line. It hangs up with `no_answer` when only `otherwise` is left, again and again.
 */
export class ScriptedCaller implements Caller {
  readonly kind = 'scripted';
  private position = 0;
  /** Whether the step at `position` has started: its `when` is evaluated only once. */
  private hasStarted = false;
  private lastLine: ScriptLine | undefined;
  /** The agent's lines to which the caller has said `otherwise` since it last had an answer, normalised. */
  private unanswered: string[] = [];

  constructor(
    private readonly script: readonly ScriptStep[],
    private readonly yieldToEventLoop: YieldToEventLoop,
  ) {}

  async next({ answer, isSilent }: AgentReply): Promise<CallerAction> {
    if (isSilent && this.lastLine !== undefined) {
      const { text, script } = this.lastLine;
      return { type: 'speak', text, script: { ...script, repeated: true } };
    }
    for (let step = this.script[this.position]; step; step = this.script[this.position]) {
      if (!this.hasStarted && step.when && !(await this.holds(step.when, answer))) {
        this.advance();
        continue;
      }
      this.hasStarted = true;
      const at = { step: this.position };
      if ('say' in step) {
        this.advance();
        const action = this.speak({ text: lineText(step.say), script: at });
        return step.bargeIn ? { ...action, bargeIn: step.bargeIn } : action;
      }
      if ('backchannel' in step || 'noise' in step || 'press' in step) {
        this.advance();
        return { type: 'sound', ...soundOf(step), script: at };
      }
      if ('waitSeconds' in step) {
        this.advance();
        return { type: 'wait', ms: step.waitSeconds * 1000 };
      }
      if ('end' in step) return { type: 'hang_up', code: 'caller_done', reason: step.end };
      const line = await this.lineOf(step, answer);
      if (line?.script.otherwise && this.isStuck(answer)) return noAnswer(answer);
      if (line) return this.speak(line);
      this.advance();
    }
    return { type: 'hang_up', code: 'script_over', reason: 'The script ended' };
  }

  private advance(): void {
    this.position++;
    this.hasStarted = false;
  }

  private speak(line: ScriptLine) {
    this.lastLine = line;
    if (!line.script.otherwise) this.unanswered = [];
    return { type: 'speak', ...line } as const;
  }

  /** Whether `otherwise` would be said too often in a row; counts this use. */
  private isStuck(answer: string): boolean {
    // Before the agent's first words there is nothing to answer.
    if (answer === '') return false;
    const line = normaliseText(answer);
    const latest = this.unanswered.slice(-MAX_OTHERWISE.sameLine);
    if (this.unanswered.length >= MAX_OTHERWISE.anyLine) return true;
    if (latest.length === MAX_OTHERWISE.sameLine && latest.every((one) => one === line)) return true;
    this.unanswered.push(line);
    return false;
  }

  /** The caller's line in this step; undefined when the next step takes the turn. */
  private async lineOf({ answers, until, otherwise }: AnswersStep, answer: string): Promise<ScriptLine | undefined> {
    if (until && (await this.holds(until, answer))) return undefined;
    const step = this.position;
    const fitting: number[] = [];
    for (const [index, { when }] of answers.entries()) if (await this.holds(when, answer)) fitting.push(index);
    if (fitting.length > 0) {
      const text = fitting.map((index) => lineText(answers[index]!.say)).join(' ');
      return { text, script: { step, answers: fitting } };
    }
    return until && otherwise !== undefined ? { text: otherwise, script: { step, otherwise: true } } : undefined;
  }

  /** Whether a condition holds for the agent's last response. */
  private async holds({ says, notSays }: Condition, answer: string): Promise<boolean> {
    await this.yieldToEventLoop();
    return (!says || matches(says, answer)) && !(notSays && matches(notSays, answer));
  }
}

function soundOf(step: BackchannelStep | NoiseStep | PressStep): Pick<SoundEntry, 'kind' | 'name'> {
  if ('backchannel' in step) return { kind: 'backchannel', name: step.backchannel };
  if ('noise' in step) return { kind: 'noise', name: step.noise };
  return { kind: 'keys', name: step.press };
}

const noAnswer = (answer: string): CallerAction => ({
  type: 'hang_up',
  code: 'no_answer',
  reason: `The script has no answer to "${truncate(answer, MAX_QUOTE)}"`,
});
