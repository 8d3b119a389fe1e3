import { CallFailure, type Failure, failure, failureOf, withoutSaid } from '../timeline/failure.js';
import type { AgentCall, AgentEndpoint } from '../transports/modules/endpoint.js';
import type { WireModule, WireSession } from '../transports/modules/module.js';
import type { RequestThreads } from '../transports/requests/request-thread.js';
import { threadSession } from '../transports/requests/thread-session.js';
import { VoiceCall } from '../transports/voice-call.js';
import { WireFindings } from '../voice/call/wire-findings.js';
import type { VoiceFacts, WireFinding } from '../voice/facts/facts.js';
import type { VoiceCallPlan } from '../voice/facts/plan.js';
import type { MediaThread } from '../voice/thread/media-thread.js';
import { cureOfVoiceStep } from './cures.js';
import { type ConnectionStep, type ConnectionTestResult, skipped, UNREACHABLE } from './steps.js';

/** The test goes on for so long after the first audible sound; where words are awaited, until they come. */
const LISTEN_MS = 1_000;
const WORDS_MS = 5_000;
/** The step of wires whose agents decide whether the platform reports their words: without, they can be called. */
const WORDS = 'words';
const NO_WORDS = `The platform reported no words within ${WORDS_MS / 1_000} s of the first sound`;

/** Calls an agent over a wire with a caller that only listens. */
export class VoiceConnectionTest {
  private readonly session: WireSession;
  private readonly driver: VoiceCall;
  private readonly reached = new Map<string, number>();
  private readonly startedAt = performance.now();
  private readonly over = new AbortController();
  private facts: VoiceFacts | undefined;

  constructor(
    private readonly module: WireModule,
    private readonly endpoint: AgentEndpoint,
    private readonly call: AgentCall,
    thread: MediaThread,
    requests: RequestThreads,
  ) {
    this.session = threadSession(module, endpoint, call, requests);
    this.driver = new VoiceCall(module, this.session, call, thread, (step, at) => this.reach(step, at));
  }

  async run(timeoutMs: number): Promise<ConnectionTestResult> {
    const timer = setTimeout(() => this.over.abort(new CallFailure('timeout', 'the test is over')), timeoutMs);
    try {
      const problem = await this.attempt().catch(failureOf);
      const probed = await this.session.probe?.(problem, this.over.signal);
      return this.result(problem, probed);
    } finally {
      clearTimeout(timer);
      this.over.abort();
      this.session.close?.();
    }
  }

  /** @returns why the agent was not heard */
  private async attempt(): Promise<Failure | undefined> {
    const run = this.driver.run({
      plan: this.plan(),
      signal: this.over.signal,
      onAborted: (facts) => (this.facts = facts),
    });
    const facts = await run.catch((error: unknown) => {
      // The time of the test is over, and the agent was heard.
      if (this.facts?.agent[0]) return this.facts;
      throw error;
    });
    this.facts = facts;
    const [first] = facts.agent;
    const heardMs = first?.startMs ?? facts.said[0]?.atMs;
    const at = (ms: number) => this.reached.get('ready')! + ms;
    if (heardMs !== undefined) this.reach('answered', at(heardMs));
    if (facts.said[0]) this.reach(WORDS, Math.max(at(facts.said[0].atMs), at(heardMs!)));
    if (heardMs !== undefined || this.isCallerFirst) return undefined;
    return facts.failure ?? failure('connection_lost', 'it hung up before it was heard');
  }

  private plan(): VoiceCallPlan {
    return {
      rate: this.module.lineRate(this.endpoint.options),
      script: [],
      firstSpeaker: this.endpoint.firstSpeaker,
      listenMs: this.awaitsWords ? WORDS_MS : LISTEN_MS,
      turnEndMs: 700,
      patienceMs: Infinity,
      maxTurns: 1,
      maxDurationSeconds: Infinity,
      conditions: {},
      backgroundNoise: false,
      seed: 1,
    };
  }

  private get awaitsWords(): boolean {
    return WORDS in this.module.steps;
  }

  private get isCallerFirst(): boolean {
    return this.endpoint.firstSpeaker === 'caller';
  }

  private reach(step: string, at: number): void {
    if (!this.reached.has(step)) this.reached.set(step, at);
  }

  private result(problem: Failure | undefined, probed?: { findings: readonly WireFinding[]; cure?: string }) {
    const names = Object.keys(this.module.steps);
    const needed = names.filter((step) => step !== WORDS);
    const failed = problem && (needed.find((step) => !this.reached.has(step) && !this.omitted(step)) ?? needed.at(-1));
    let previous = this.startedAt;
    const steps = names.map((step): ConnectionStep => {
      const omitted = this.omitted(step);
      if (omitted !== undefined) return skipped(step, omitted);
      const at = step === failed ? performance.now() : this.reached.get(step);
      if (at === undefined) return step === WORDS ? this.wordless() : skipped(step, 'Not reached');
      const ms = Math.max(0, Math.round((at - previous) * 10) / 10);
      previous = at;
      if (step === failed) return this.failedStep(step, ms, problem!, probed?.cure);
      const passed = { step, status: 'passed', ms, message: this.module.steps[step]!, said: null, cure: null } as const;
      return step === WORDS ? { ...passed, ...this.firstWords() } : passed;
    });
    const found = new WireFindings().with([...(this.facts?.wireFindings ?? []), ...(probed?.findings ?? [])]).list();
    const findings = found.map(({ code, severity, detail, source }) => ({ code, severity, detail, source }));
    return { ok: problem === undefined, callId: this.call.callId, steps, findings } satisfies ConnectionTestResult;
  }

  /** Why a step does not belong to this test. */
  private omitted(step: string): string | undefined {
    if (step === 'secured' && !/^(https|wss|sips):|;transport=tls$/i.test(this.endpoint.url))
      return 'The url has no TLS';
    if ((step === 'answered' || step === WORDS) && this.isCallerFirst) {
      return this.reached.has('websocket') || this.reached.has('media') ? 'The caller speaks first' : 'Not reached';
    }
    return this.session.skippedSteps[step];
  }

  private firstWords(): Pick<ConnectionStep, 'message' | 'said'> {
    const { said = [] } = this.facts ?? {};
    const by = said[0]?.by;
    const words = said.map(({ text }) => text).join(' ');
    const message = this.module.steps[WORDS]!;
    return { message: by ? `${message}, by ${by}` : message, said: this.session.agent.excerpt(words) };
  }

  private wordless(): ConnectionStep {
    if (!this.reached.has('answered')) return skipped(WORDS, 'Not reached');
    return { ...skipped(WORDS, NO_WORDS), cure: this.session.cure?.(WORDS, failure('words_unknown')) ?? null };
  }

  private failedStep(step: string, ms: number, problem: Failure, probedCure: string | undefined): ConnectionStep {
    const cure = probedCure ?? cureOfVoiceStep(step, problem, (failed) => this.session.cure?.(step, failed));
    const { code, message, said } = problem;
    const common = { step, status: 'failed', cure } as const;
    const isUnreachable = code === 'address_refused' || code === 'name_not_found';
    if (isUnreachable) {
      const { streamAddress } = this.session;
      return { ...common, ms: 0, message: [UNREACHABLE, streamAddress ?? []].flat().join(': '), said: null };
    }
    return { ...common, ms, message: withoutSaid(message, said), said: said || null };
  }
}
