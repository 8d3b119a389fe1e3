import { capital } from '../../text/index.js';
import { type HistoryLine, lineText, type ToolResult } from '../../evaluation-definition/index.js';
import type { CallExchange } from '../other-side/call-exchange.js';
import { CallTime } from '../time/call-time.js';
import { type Caller, type CallerAction, CallerUnusable } from '../callers/caller.js';
import type { Clock } from '../time/clock.js';
import { truncate } from '../timeline/text.js';
import { CallFailure, type Failure, failure } from '../timeline/failure.js';
import { lateResult } from './tool-results.js';
import { EventQueue } from './event-queue.js';
import { ExchangeRecorder } from './exchange-recorder.js';
import { joinReports, recordReport, type TakeReports, unknownTools } from './reported-tools.js';
import type { Stall } from '../time/stalls.js';
import { END_CODES, endedBy, type EndCode } from '../timeline/end-codes.js';
import type { EndEntry, Timeline } from '../timeline/timeline.js';
import type { AgentEvent, Line, Transport } from './transport.js';

export interface ConversationOptions {
  readonly transport: Transport;
  readonly caller: Caller;
  readonly clock: Clock;
  readonly timeline: Timeline;
  readonly history?: readonly HistoryLine[];
  readonly toolResults?: readonly ToolResult[];
  readonly maxTurns: number;
  readonly maxDurationSeconds: number;
  /** How long the caller waits for an answer, in milliseconds. */
  readonly patienceMs: number;
  readonly signal: AbortSignal;
  readonly takeReports?: TakeReports | undefined;
}

export interface ConversationResult {
  /** Stalls of the tester, in call time. */
  readonly stalls: readonly Stall[];
  readonly end: EndEntry;
  readonly failure: Failure | undefined;
  /** Whether the caller hung up while the agent was still speaking or acting. */
  readonly wasAgentActing: boolean;
  /** Number of the caller's turns that the agent answered with words, and its greeting. */
  readonly answeredTurns: number;
  /** Null for an agent in this process. */
  readonly exchange: CallExchange | null;
  /** That of `CallView`. */
  readonly unknownTools?: string | null;
}

/** The caller hangs up after this many unanswered turns in a row. */
const MAX_SILENCES = 2;

/** Result of listening to the agent; `over` means that the call has ended. */
type Listening = 'answered' | 'silent' | 'over';
type QueuedEvent = AgentEvent | { readonly type: 'aborted' };

/**
 * Runs the conversation of a caller with an agent: decides when the caller acts, and ends the call at a limit.
 * @throws the signal's reason; errors of the caller
 */
export async function runConversation(options: ConversationOptions): Promise<ConversationResult> {
  options.signal.throwIfAborted();
  const conversation = new Conversation(options);
  try {
    return await conversation.run();
  } finally {
    conversation.close();
  }
}

class Conversation {
  private readonly events = new EventQueue<QueuedEvent>();
  private readonly time: CallTime;
  private readonly exchange = new ExchangeRecorder();
  private readonly line: Line;
  private readonly timeline: Timeline;
  private readonly clock: Clock;
  private end: EndEntry | undefined;
  private failure: Failure | undefined;
  private wasAgentActing = false;
  /** Whether the agent has started its turn and not ended it. */
  private isAgentActing = false;
  /** Number of the caller's turns that the agent answered. */
  private answeredTurns = 0;
  private hasGreeted = false;
  private silences = 0;
  /** Call time of the agent's latest action. */
  private lastHeard = 0;
  private answer = '';
  /** The tool call whose result comes last, and when. */
  private awaited: { readonly tool: string; readonly until: number } | undefined;

  constructor(private readonly options: ConversationOptions) {
    this.clock = options.clock;
    this.timeline = options.timeline;
    this.time = new CallTime(options.clock);
    this.line = options.transport.connect({
      clock: options.clock,
      emit: (event) => this.events.push(event),
      ...(options.history && { history: options.history }),
      ...(options.toolResults && { toolResults: options.toolResults }),
    });
    options.signal.addEventListener('abort', this.abort, { once: true });
  }

  async run(): Promise<ConversationResult> {
    let end: EndEntry | undefined;
    try {
      end = await this.talk();
    } catch (error) {
      end = this.breakOff(error);
    }
    const { failure, wasAgentActing } = this;
    const answeredTurns = this.answeredTurns + (this.hasGreeted ? 1 : 0);
    const stalls = this.time.stalls(this.line.stalls);
    const exchange = this.exchange.of(this.line, (moment) => this.time.at(moment));
    const unknown = await this.addReports();
    const tools = unknown !== undefined && { unknownTools: unknown };
    return { end, stalls, failure, wasAgentActing, answeredTurns, exchange, ...tools };
  }

  private async addReports(): Promise<string | null | undefined> {
    const { takeReports, transport } = this.options;
    if (!takeReports) return undefined;
    this.close();
    if (this.failure?.fault === 'infrastructure') return 'The call broke off before the reported tool calls were read';
    const reports = await this.clock.awaitExternal(takeReports());
    const now = this.clock.now();
    const { timeline } = this;
    const shown = timeline.entries.filter((entry) => entry.type === 'tool_call');
    const { calls, others, doubt } = joinReports(shown, reports.calls);
    for (const [call, known] of calls) if (known !== call) timeline.observed(known, timeline.entries.indexOf(call), 1);
    for (const { agoMs, ...call } of others) recordReport(timeline, call, this.time.at(now - agoMs));
    return unknownTools(transport.name, reports, doubt);
  }

  private async talk(): Promise<EndEntry> {
    let heard: Listening = this.line.agentSpeaksFirst ? await this.greeting() : 'answered';
    if (this.end) return this.end;
    for (;;) {
      const act = await this.decide(heard === 'silent');
      if (!this.end) heard = await this.perform(act);
      if (this.end) return this.end;
    }
  }

  /** Listens to the agent's first words. */
  private async greeting(): Promise<Listening> {
    const since = this.clock.now();
    const asked = (await this.line.greet?.()) ?? since;
    this.time.exclude(since, asked);
    return this.listen(this.time.at(asked));
  }

  /** Ends the call because the caller cannot continue. @throws errors that are not part of a call */
  private breakOff(error: unknown): EndEntry {
    this.options.signal.throwIfAborted();
    if (error instanceof CallerUnusable) this.stop('tester', 'caller_broken', error.message);
    else if (error instanceof CallFailure) this.fail(error.failure, this.time.now());
    if (!this.end) throw error;
    return this.end;
  }

  private fail(failure: Failure, at: number): void {
    this.failure = failure;
    this.timeline.agentPaused(at, true);
    this.timeline.failed(failure, at);
    this.stop('tester', 'failure', failure.message, at);
  }

  close(): void {
    this.options.signal.removeEventListener('abort', this.abort);
    this.line.hangUp();
  }

  private readonly abort = () => {
    this.events.push({ type: 'aborted' });
    this.line.hangUp();
  };

  private async decide(isSilent: boolean): Promise<CallerAction> {
    const { caller, signal } = this.options;
    const act = await this.time.pause(async () => caller.next({ answer: this.answer, isSilent }, signal));
    signal.throwIfAborted();
    for (let event = this.events.poll(); event; event = this.events.poll()) this.hear(event);
    if (!this.end && this.leftMs() <= 0) this.stop('tester', 'max_duration');
    return act;
  }

  private async perform(act: CallerAction): Promise<Listening> {
    switch (act.type) {
      case 'hang_up':
        this.wasAgentActing = this.isAgentActing;
        this.stop(endedBy(act.code), act.code, act.reason);
        return 'over';
      case 'wait':
        return this.wait(act.ms);
      case 'sound': {
        const { kind, name, script } = act;
        this.timeline.soundLeftOut({ kind, name, script }, this.time.now());
        return 'answered';
      }
      case 'speak': {
        if (this.answeredTurns >= this.options.maxTurns) {
          this.stop('tester', 'max_turns');
          return 'over';
        }
        const text = lineText(act.line);
        const since = this.clock.now();
        const { start, end } = await this.line.say(text);
        this.time.exclude(since, start);
        const { script, bargeIn } = act;
        this.timeline.callerSpoke(text, this.time.at(start), this.time.at(end), {
          ...(script && { script }),
          // The agent has answered before the caller acts: on a text call neither side speaks over the other.
          ...(bargeIn && { bargeIn: { ...bargeIn, possible: false } }),
        });
        return this.listen(this.time.at(end));
      }
    }
  }

  /** Waits as the script says, while listening. */
  private async wait(ms: number): Promise<Listening> {
    const start = this.time.now();
    await this.listenUntil(start + ms);
    if (this.end) return 'over';
    this.timeline.silence('caller', start, this.time.now());
    return 'answered';
  }

  /** Listens to the agent's turn. @param since call time at which the agent's turn started */
  private async listen(since: number): Promise<Listening> {
    const turn = this.timeline.turn;
    const patience = since + this.options.patienceMs;
    for (;;) {
      // Only `turn_end` ends the agent's turn, however slow the agent is.
      const event = this.events.poll() ?? (await this.events.next(this.clock, this.leftMs()));
      if (event) this.hear(event);
      else if (this.leftMs() <= 0) this.stopAtMaxDuration(since);
      if (this.end) return 'over';
      if (event?.type === 'turn_end') break;
    }
    const words = this.timeline.agentWords();
    if (words === '') return this.handleSilence(since, patience);
    this.answer = words;
    this.silences = 0;
    if (turn > 0) this.answeredTurns++;
    else this.hasGreeted = true;
    return 'answered';
  }

  private async handleSilence(since: number, patience: number): Promise<Listening> {
    await this.listenUntil(patience);
    if (this.end) return 'over';
    this.timeline.silence('agent', since, this.time.now());
    this.silences++;
    if (this.silences < MAX_SILENCES) return 'silent';
    this.stop('caller', 'agent_silent');
    return 'over';
  }

  private async listenUntil(moment: number): Promise<void> {
    while (!this.end) {
      const left = Math.min(moment, this.maxDurationMs()) - this.time.now();
      if (left <= 0) break;
      const event = this.events.poll() ?? (await this.events.next(this.clock, left));
      if (event) this.hear(event);
    }
    this.answer = this.timeline.agentWords() || this.answer;
    if (!this.end && this.leftMs() <= 0) this.stop('tester', 'max_duration');
  }

  private hear(event: QueuedEvent): void {
    if (event.type === 'aborted') throw this.options.signal.reason;
    // Events after the end of the call are ignored.
    if (this.end) return;
    if (event.type === 'request') return this.exchange.add(event.request, this.timeline.turn);
    if (event.type === 'idle') return this.time.exclude(event.since, event.at);
    const at = this.time.at(event.at);
    this.lastHeard = at;
    this.isAgentActing = event.type !== 'turn_end';
    switch (event.type) {
      case 'speech':
        return this.timeline.agentSpeaks(event.text, at);
      case 'speech_end':
        return this.timeline.agentPaused(at);
      case 'speech_split':
        return this.timeline.agentSplits();
      case 'tool_start':
        return this.timeline.toolStarts();
      case 'warning':
        return this.timeline.warned(event, at);
      case 'tool_call':
        this.awaitResult(event);
        return this.timeline.toolCalled(toolCall(event), at, this.time.at(event.endedAt));
      case 'turn_end':
        return this.timeline.agentPaused(at);
      case 'hang_up':
        return this.stop('agent', 'agent_hung_up', event.reason, at);
      case 'failure':
        return this.fail(event.failure, at);
    }
  }

  private awaitResult({ name: tool, delayMs = 0, endedAt }: Extract<AgentEvent, { type: 'tool_call' }>): void {
    const until = this.time.at(endedAt) + delayMs;
    if (delayMs > 0 && until > (this.awaited?.until ?? 0)) this.awaited = { tool, until };
  }

  /**
   * Ends the call while the caller waits for an answer. The agent cannot help it if the tester has not returned a result yet. A caller would have given up on an agent that has been quiet for so
   * long; the maximum duration must not hide that.
   * @param since call time at which the agent's turn started
   */
  private stopAtMaxDuration(since: number): void {
    const now = this.time.now();
    if (this.awaited && this.awaited.until >= now) return this.fail(lateResult(this.awaited.tool), now);
    const quietMs = now - Math.max(since, this.lastHeard, this.awaited?.until ?? 0);
    if (quietMs < MAX_SILENCES * this.options.patienceMs) return this.stop('tester', 'max_duration');
    const detail = `nothing for ${Math.floor(quietMs / 1000)} s, until the maximum duration of the call`;
    this.fail(failure('timeout', detail), now);
  }

  private stop(by: EndEntry['by'], code: EndCode, reason = '', at = this.time.now()): void {
    this.end = this.timeline.ended(by, code, reason === '' ? capital(END_CODES[code]) : reason, at);
  }

  private maxDurationMs(): number {
    return this.options.maxDurationSeconds * 1000;
  }

  private leftMs(): number {
    return this.maxDurationMs() - this.time.now();
  }
}

const toolCall = ({
  name,
  arguments: args,
  rawArguments,
  result,
  isBesideWords,
}: Extract<AgentEvent, { type: 'tool_call' }>) => ({
  name: truncate(name, 255),
  arguments: args,
  ...(rawArguments !== undefined && { rawArguments: truncate(rawArguments, 2_000) }),
  ...(result !== undefined && { result }),
  ...(isBesideWords && { isBesideWords }),
});
