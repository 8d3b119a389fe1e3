import { RealClock } from '../time/clock.js';
import { type Failure, withoutSaid } from '../timeline/failure.js';
import { OtherSide } from '../other-side/other-side.js';
import type { AgentEvent, Line, RequestRecord, Transport } from '../conversation/transport.js';
import type { AgentCall, AgentEndpoint, FirstSpeaker } from '../transports/modules/endpoint.js';
import type { TextModule } from '../transports/modules/module.js';
import { mediaThreads, PROTOCOLS, requestThreads } from '../transports/protocols.js';
import { textTransport } from '../transports/requests/thread-line.js';
import { cureOf, cureOfSilence } from './cures.js';
import {
  type ConnectionStep,
  type ConnectionTestResult,
  skipped,
  TEXT_STEPS,
  type TextStep,
  TIMED_OUT,
  UNREACHABLE,
} from './steps.js';
import { VoiceConnectionTest } from './voice-test.js';

/** What the caller says, unless the agent speaks first. */
const GREETING = 'Hello';
/** How long the rest of the first words is awaited, in milliseconds. */
const REST_MS = 1_000;
/**
 * Calls the agent as a call does, waits for its first words or sound and hangs up. Over text this is one request, and one
 * caller's line unless the agent speaks first.
 * @param timeoutMs for everything
 */
export function testConnection(
  endpoint: AgentEndpoint,
  call: AgentCall,
  timeoutMs: number,
  protocols = PROTOCOLS,
): Promise<ConnectionTestResult> {
  const protocol = protocols.of(endpoint.protocol);
  return protocol.medium === 'voice'
    ? mediaThreads.use(call.workspaceId, new AbortController().signal, (thread) =>
        new VoiceConnectionTest(protocol, endpoint, call, thread, requestThreads).run(timeoutMs),
      )
    : new ConnectionTest(protocol, textTransport(protocol, endpoint, call, requestThreads), endpoint, call).run(
        timeoutMs,
      );
}

type Ending =
  | { readonly type: 'words' | 'silence' | 'timeout' }
  | { readonly type: 'tool'; readonly name: string }
  | { readonly type: 'failure'; readonly failure: Failure };

class ConnectionTest {
  private readonly clock = new RealClock();
  /** When each step was completed. */
  private readonly reached = new Map<TextStep, number>();
  private startedAt = this.clock.now();
  private readonly firstSpeaker: FirstSpeaker;
  private readonly agent: OtherSide;
  private request: RequestRecord | undefined;
  private words = '';
  private end: (ending: Ending) => void = () => undefined;
  private restTimer: NodeJS.Timeout | undefined;

  constructor(
    private readonly protocol: TextModule,
    private readonly transport: Transport,
    private readonly endpoint: AgentEndpoint,
    private readonly call: AgentCall,
  ) {
    this.firstSpeaker = endpoint.firstSpeaker ?? protocol.firstSpeaker ?? 'caller';
    this.agent = new OtherSide('', transport.secrets?.all ?? []);
  }

  async run(timeoutMs: number): Promise<ConnectionTestResult> {
    const ended = new Promise<Ending>((resolve) => (this.end = resolve));
    const timer = setTimeout(() => this.end({ type: 'timeout' }), timeoutMs);
    const line = this.connect();
    try {
      void (line.agentSpeaksFirst ? line.greet?.() : line.say(GREETING));
      const ending = await ended;
      return this.result(ending);
    } finally {
      clearTimeout(timer);
      clearTimeout(this.restTimer);
      line.hangUp();
    }
  }

  private connect(): Line {
    const line: Line = this.transport.connect({
      clock: this.clock,
      isTest: true,
      onPhase: (phase, at = this.clock.now()) => this.reached.set(phase, at),
      emit: (event) => {
        this.hear(event);
        // At once: after a tool call the transport would send another request.
        if (event.type === 'tool_call' || event.type === 'turn_end') line.hangUp();
      },
    });
    return line;
  }

  private hear(event: AgentEvent): void {
    switch (event.type) {
      case 'request':
        this.request = event.request;
        // A further request must not begin after what is reached.
        if (this.reached.size === 0) this.startedAt = event.at;
        return;
      case 'speech':
        return this.spoke(event.text, event.at);
      case 'tool_call':
        return this.end(this.words.trim() === '' ? { type: 'tool', name: event.name } : { type: 'words' });
      case 'failure':
        return this.end({ type: 'failure', failure: event.failure });
      case 'turn_end':
      case 'hang_up':
        return this.end({ type: this.words.trim() === '' ? 'silence' : 'words' });
      case 'speech_end':
      case 'speech_split':
      case 'tool_start':
      case 'warning':
      case 'idle':
    }
  }

  private spoke(text: string, at: number): void {
    this.words += text;
    if (this.words.trim() === '' || this.reached.has('answered')) return;
    this.reached.set('answered', at);
    this.restTimer = setTimeout(() => this.end({ type: 'words' }), REST_MS);
  }

  private result(ending: Ending): ConnectionTestResult {
    const status = this.request?.status;
    const isAccepted = status !== undefined && status >= 200 && status < 300;
    if (isAccepted) this.reached.set('accepted', this.request?.firstByteAt ?? this.clock.now());
    const failed = this.failedStepOf(ending);
    let previous = this.startedAt;
    const steps = TEXT_STEPS.map((step): ConnectionStep => {
      if (step === 'secured' && !this.isSecure) return skipped(step, 'The url has no TLS');
      const at = step === failed ? this.clock.now() : this.reached.get(step);
      if (at === undefined) return skipped(step, 'Not reached');
      const ms = Math.round((at - previous) * 10) / 10;
      previous = at;
      return step === failed ? this.failedStep(step, ms, ending) : this.passedStep(step, ms, ending);
    });
    return { ok: failed === undefined, callId: this.call.callId, steps, findings: [] };
  }

  private failedStepOf(ending: Ending): TextStep | undefined {
    if (ending.type === 'tool') this.reached.set('answered', this.clock.now());
    // The request was not sent at all.
    if (ending.type === 'failure' && ending.failure.code === 'http_refused' && !this.request?.status) return 'accepted';
    const missing = TEXT_STEPS.find((step) => !this.reached.has(step) && (step !== 'secured' || this.isSecure));
    return missing ?? (ending.type === 'failure' ? 'answered' : undefined);
  }

  private get isSecure(): boolean {
    return /^(https|wss):/i.test(this.endpoint.url);
  }

  private passedStep(step: TextStep, ms: number, ending: Ending): ConnectionStep {
    const said = step === 'answered' && this.words.trim() !== '' ? this.agent.excerpt(this.words) : null;
    return { step, status: 'passed', ms, message: this.messageOf(step, ending), said, cure: null };
  }

  private messageOf(step: TextStep, ending: Ending): string {
    const passed = this.protocol.steps[step]!;
    if (step === 'accepted') return `${passed}: HTTP ${this.request?.status}`;
    return step === 'answered' && ending.type === 'tool' && this.words.trim() === ''
      ? `The agent called the tool ${this.agent.excerpt(ending.name)} before it said anything`
      : passed;
  }

  private failedStep(step: TextStep, ms: number, ending: Ending): ConnectionStep {
    const common = { step, status: 'failed' } as const;
    const { firstSpeaker, request } = this;
    if (ending.type === 'silence') {
      const message = 'The agent answered without words';
      return { ...common, ms, message, said: null, cure: cureOfSilence(firstSpeaker) };
    }
    const { code, message } =
      ending.type === 'failure' ? ending.failure : ({ code: 'timeout', message: TIMED_OUT[step] } as const);
    const advice = ending.type === 'failure' ? this.protocol.cure?.(ending.failure) : undefined;
    const cure = advice ?? cureOf({ step, code, status: request?.status, firstSpeaker });
    const said = request?.said ?? null;
    if (step === 'resolved' && code !== 'timeout') return { ...common, ms: 0, message: UNREACHABLE, said: null, cure };
    return { ...common, ms, message: said ? withoutSaid(message, said) : message, said, cure };
  }
}
