import { structureOf } from '../../../json-input/index.js';
import { lateResult, type ToolAnswer, type ToolAnswers, toolAnswers } from '../../conversation/tool-results.js';
import type { Failure } from '../../timeline/failure.js';
import { parseArguments, sanitizeText } from '../../timeline/text.js';
import type { HeardCallerFact, SaidFact, ToolCallFact, VoiceFacts } from '../facts/facts.js';
import type { VoiceCallPlan } from '../facts/plan.js';
import type { WireSide } from '../wire/wire.js';
import type { CallEnd } from './closing.js';

/** Maximum number of reports of each kind, and of characters in one. */
const MAX_REPORTS = 10_000;
const MAX_REPORT = 64 * 1024;
/** Maximum number of words with places in one report; with more words, none keeps its place. */
const MAX_WORDS = 5_000;
/** Memory of a report or a word beside its text, including the copy in the main thread. */
const REPORT_BYTES = 256;
/** Memory of a structural character of JSON after parsing. */
const STRUCTURE_BYTES = 128;

/** Reports of the platform beside audio: words of the agent, words understood of the caller, and tool calls. */
export class AgentReports {
  private readonly said: SaidFact[] = [];
  private readonly heardCaller: HeardCallerFact[] = [];
  private readonly toolCalls: ToolCallFact[] = [];
  /** Tool calls whose result the wire still expects. */
  private readonly unanswered: { readonly id: string; readonly call: ToolCallFact }[] = [];
  /** Those whose result is known, and when it comes. */
  private due: {
    readonly id: string;
    readonly call: ToolCallFact;
    readonly answer: ToolAnswer;
    readonly atMs: number;
  }[] = [];
  private readonly answers: ToolAnswers;
  /** When the latest result comes that is held back (`delayMs`); 0 if there was none. */
  dueMs = 0;
  private kept = 0;

  constructor({ toolResults = [] }: VoiceCallPlan) {
    this.answers = toolAnswers(toolResults);
  }

  say(atMs: number, text: string, of: Parameters<WireSide['said']>[2] = {}): void {
    if (this.said.length >= MAX_REPORTS) return;
    const { item, final = true, ahead, words, by } = of;
    const places =
      words && words.length <= MAX_WORDS
        ? words.map(({ text: word, ...span }) => ({ text: this.shortened(word), ...span }))
        : undefined;
    const marks = { ...(item !== undefined && { item }), ...(ahead && { ahead }), ...(by && { by }) };
    this.said.push({ atMs, text: this.shortened(text), final, ...marks, ...(places && { words: places }) });
  }

  hearCaller(atMs: number, text: string): void {
    if (this.heardCaller.length < MAX_REPORTS) this.heardCaller.push({ atMs, text: this.shortened(text) });
  }

  /** @param isAwaited whether the platform waits for a result */
  callTool(atMs: number, { id, name, json }: Parameters<WireSide['toolCall']>[1], isAwaited: boolean): void {
    if (this.toolCalls.length >= MAX_REPORTS) return;
    const call: ToolCallFact = { atMs, name: this.shortened(name), json: json === null ? null : this.shortened(json) };
    this.kept += STRUCTURE_BYTES * structureOf(call.json ?? '');
    this.toolCalls.push(call);
    if (isAwaited) this.unanswered.push({ id, call });
  }

  /**
   * Answers the pending tool calls as far as their results are due.
   * @param send receives a result as JSON
   * @returns why a result is not known
   */
  answerTools(atMs: number, send: (id: string, json: string, isError?: true) => void): Failure | undefined {
    for (const { id, call } of this.unanswered.splice(0)) {
      const answer = this.answers(call.name, parseArguments(call.json ?? ''));
      if (answer.failure) return answer.failure;
      if (answer.delayMs > 0) this.dueMs = Math.max(this.dueMs, atMs + answer.delayMs);
      if (answer.result !== undefined) this.due.push({ id, call, answer, atMs: atMs + answer.delayMs });
    }
    const due = this.due.filter((one) => one.atMs <= atMs);
    if (due.length > 0) this.due = this.due.filter((one) => one.atMs > atMs);
    for (const { id, call, answer } of due) {
      const { result, isError } = answer;
      Object.assign(call, { result, answeredMs: atMs });
      send(id, JSON.stringify(result), isError);
    }
    return undefined;
  }

  /** Why a call that ended says nothing about the agent. */
  lateAt({ code }: Pick<CallEnd, 'code'>): Failure | undefined {
    const [next] = this.due;
    return code === 'max_duration' && next ? lateResult(next.call.name) : undefined;
  }

  /** Approximate memory of the reports in bytes. */
  get bytes(): number {
    return this.kept;
  }

  private shortened(text: string): string {
    const kept = sanitizeText(text.slice(0, MAX_REPORT));
    this.kept += REPORT_BYTES + 2 * kept.length;
    return kept;
  }

  /** Number of reports of the agent's words. */
  get saidCount(): number {
    return this.said.length;
  }

  get facts(): Pick<VoiceFacts, 'said' | 'heardCaller' | 'toolCalls'> {
    const { said, heardCaller, toolCalls } = this;
    return { said, heardCaller, toolCalls };
  }
}
