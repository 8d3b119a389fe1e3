import type { AnswersStep, Condition, ScriptStep } from '../../evaluation-definition/index.js';
import type { YieldToEventLoop } from '../yield-to-event-loop.js';
import { matches } from '../matching.js';
import type { Caller, CallerAction, AgentReply } from './caller.js';

/**
 * A caller that follows a script (libs/evaluation-definition). It says its lines and nothing else; without an answer it
 * repeats the last line.
 */
export class ScriptedCaller implements Caller {
  readonly kind = 'scripted';
  private position = 0;
  /** Whether the step at `position` has started: its `when` is evaluated only once. */
  private hasStarted = false;
  private lastLine: string | undefined;

  constructor(
    private readonly script: readonly ScriptStep[],
    private readonly yieldToEventLoop: YieldToEventLoop,
  ) {}

  async next({ answer, isSilent }: AgentReply): Promise<CallerAction> {
    if (isSilent && this.lastLine !== undefined) return { type: 'speak', text: this.lastLine };
    for (let step = this.script[this.position]; step; step = this.script[this.position]) {
      if (!this.hasStarted && step.when && !(await this.holds(step.when, answer))) {
        this.advance();
        continue;
      }
      this.hasStarted = true;
      if ('say' in step) {
        this.advance();
        return this.speak(step.say);
      }
      if ('waitSeconds' in step) {
        this.advance();
        return { type: 'wait', ms: step.waitSeconds * 1000 };
      }
      if ('end' in step) return { type: 'hang_up', code: 'caller_done', reason: step.end };
      const line = await this.lineOf(step, answer);
      if (line !== undefined) return this.speak(line);
      this.advance();
    }
    return { type: 'hang_up', code: 'script_over', reason: 'The script ended' };
  }

  private advance(): void {
    this.position++;
    this.hasStarted = false;
  }

  private speak(text: string): CallerAction {
    this.lastLine = text;
    return { type: 'speak', text };
  }

  /** The caller's line in this step; undefined when the next step takes the turn. */
  private async lineOf({ answers, until, otherwise }: AnswersStep, answer: string): Promise<string | undefined> {
    if (until && (await this.holds(until, answer))) return undefined;
    const fitting: string[] = [];
    for (const { when, say } of answers) if (await this.holds(when, answer)) fitting.push(say);
    return fitting.length > 0 ? fitting.join(' ') : until && otherwise;
  }

  /** Whether a condition holds for the agent's last response. */
  private async holds({ says, notSays }: Condition, answer: string): Promise<boolean> {
    await this.yieldToEventLoop();
    return (!says || matches(says, answer)) && !(notSays && matches(notSays, answer));
  }
}
