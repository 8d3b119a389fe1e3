import type { AgentLine } from '../agent/voice/mouth.js';
import type { SpokenAnswer } from '../agent/voice/spoken-dialogue.js';
import type { KeptCall, KeptLine, KeptTool } from './kept-calls.js';

/** What the platform returns for a tool that it runs. */
const RESULT = '{"status":"ok"}';
/** From the beginning of the caller's speech until an agent is sure of it. */
const NOTICED_MS = 300;

/** Listens to the line of an agent for the record of its call: what its platform knows of it. */
export class LineRecorder {
  private readonly lines: KeptLine[] = [];
  private readonly tools: KeptTool[] = [];
  private callerAt: number | undefined;
  private then: SpokenAnswer['then'];
  /** Whether the agent ended the call. */
  hangsUp = false;
  /** When it had sent a goodbye. */
  goodbyeMs: number | undefined;

  /** @param ms since the start of the call */
  constructor(private readonly ms: () => number) {}

  around(line: AgentLine): AgentLine {
    return {
      ...line,
      clear: () => {
        line.clear();
        this.cut();
      },
      mark: (name) => {
        if (this.then === 'hang-up') this.goodbyeMs ??= this.ms();
        line.mark(name);
      },
      hangUp: () => {
        this.hangsUp = true;
        this.cut();
        line.hangUp();
      },
      answer: (answer, bytes) => {
        const startMs = this.ms();
        this.then = answer.then;
        this.lines.push({ speaker: 'agent', text: answer.text, startMs, endMs: startMs + bytes / 8 });
        line.answer?.(answer, bytes);
      },
      callerStarts: () => {
        this.callerAt ??= Math.max(0, this.ms() - NOTICED_MS);
        line.callerStarts?.();
      },
      callerEnds: (text) => {
        const endMs = this.ms();
        this.lines.push({ speaker: 'caller', text, startMs: this.callerAt ?? endMs, endMs });
        this.callerAt = undefined;
        line.callerEnds?.(text);
      },
      callTools: (calls) => {
        const startMs = this.ms();
        const called = calls.map(({ id, name, arguments: json }) => ({
          id,
          name,
          arguments: JSON.parse(json) as object,
        }));
        this.tools.push(...called.map((tool) => ({ ...tool, result: RESULT, startMs })));
        line.callTools?.(calls);
      },
    };
  }

  /** What was not yet played of the agent's words is not said. */
  private cut(): void {
    const at = this.lines.findLastIndex(({ speaker }) => speaker === 'agent');
    if (at >= 0) this.lines[at] = spokenUntil(this.lines[at]!, this.ms());
  }

  get heard(): Pick<KeptCall, 'lines' | 'tools'> {
    return { lines: this.lines, tools: this.tools };
  }
}

/** What was heard of a line: the transcript of a platform has no more. */
function spokenUntil(line: KeptLine, endMs: number): KeptLine {
  if (endMs >= line.endMs) return line;
  const words = line.text.split(' ');
  const share = (endMs - line.startMs) / (line.endMs - line.startMs);
  return { ...line, text: words.slice(0, Math.max(1, Math.round(words.length * share))).join(' '), endMs };
}
