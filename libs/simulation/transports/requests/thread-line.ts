import type { Line, LineOptions, RequestRecord, Transport } from '../../conversation/transport.js';
import type { Stall } from '../../time/stalls.js';
import { failureOf } from '../../timeline/failure.js';
import type { AgentCall, AgentEndpoint } from '../modules/endpoint.js';
import type { TextModule } from '../modules/module.js';
import { HeldTask } from './held-task.js';
import type { LineReport } from './messages.js';
import type { RequestThreads } from './request-thread.js';

/** Reaches an agent over a protocol of text, which runs in a request thread. */
export function textTransport(
  module: TextModule,
  endpoint: AgentEndpoint,
  call: AgentCall,
  threads: RequestThreads,
): Transport {
  const described = module.transport(endpoint, call);
  return {
    name: described.name,
    ...(described.secrets && { secrets: described.secrets }),
    connect: (options) => {
      // A line that sends nothing says who speaks first, and how the agent knows the call.
      return new ThreadLine(
        described.connect({ ...options, emit: () => undefined }),
        module,
        endpoint,
        call,
        threads,
        options,
      );
    },
  };
}

class ThreadLine implements Line {
  readonly agentSpeaksFirst: boolean;
  readonly identity?: NonNullable<Line['identity']>;
  readonly stalls: Stall[] = [];
  private readonly task: HeldTask;
  /** Of the request that goes on. */
  private record: RequestRecord | undefined;
  private isOver = false;

  constructor(
    { agentSpeaksFirst, identity }: Pick<Line, 'agentSpeaksFirst' | 'identity'>,
    module: TextModule,
    endpoint: AgentEndpoint,
    call: AgentCall,
    threads: RequestThreads,
    private readonly line: LineOptions,
  ) {
    this.agentSpeaksFirst = agentSpeaksFirst;
    if (identity) this.identity = identity;
    const { history, toolResults, isTest, onPhase } = line;
    const options = { history, toolResults, isTest, onPhase, report: (report: LineReport) => this.take(report) };
    this.task = new HeldTask(threads, module, call, ['line', endpoint, call, options], (reason) => this.fail(reason));
  }

  async greet(): Promise<number> {
    return (await this.ask<number>('greet')) ?? this.line.clock.now();
  }

  async say(text: string): ReturnType<Line['say']> {
    const now = this.line.clock.now();
    return (await this.ask<{ start: number; end: number }>('say', text)) ?? { start: now, end: now };
  }

  hangUp(): void {
    this.isOver = true;
    this.task.close();
  }

  /** Never rejects: failures are events. */
  private ask<T>(method: string, ...args: readonly unknown[]): Promise<T | undefined> {
    return this.task.ask<T>(method, ...args).catch((error: unknown) => {
      this.fail(error);
      return undefined;
    });
  }

  private take({ events, record, stalls }: LineReport): void {
    this.stalls.push(...stalls);
    for (const event of events) if (event.type === 'request') this.record = event.request;
    if (this.record && record) {
      const { tokensAt, ...state } = record;
      Object.assign(this.record, state);
      this.record.tokensAt.push(...tokensAt);
    }
    for (const event of events) if (!this.isOver) this.line.emit(event);
  }

  private fail(reason: unknown): void {
    if (this.isOver) return;
    this.line.emit({ type: 'failure', at: this.line.clock.now(), failure: failureOf(reason) });
    this.hangUp();
  }
}
