import type { Check, EvaluationDefinition, NestedCheck } from '../../evaluation-definition/index.js';
import { criteriaIn, DEFAULT_LANGUAGE, historyOf } from '../../evaluation-definition/index.js';
import { Redaction } from '../../text/index.js';
import { eventLoopYielder } from '../time/yield-to-event-loop.js';
import {
  type CallExchange,
  UNUSABLE_ANSWER_LIMITS,
  type UnusableAnswer,
  withJudges,
} from '../other-side/call-exchange.js';
import type { Caller } from '../callers/caller.js';
import { GeneratedCaller } from '../callers/generated.js';
import { NO_CALLER } from '../callers/no-caller.js';
import { CALLER_PROMPT_VERSION, type Personality, type Scenario } from '../callers/persona.js';
import { ScriptedCaller } from '../callers/scripted.js';
import { CallView } from '../timeline/call-view.js';
import type { CheckResult } from '../checks/check-result.js';
import { judgedLeaf, recordedVerdicts, verdictsOn } from '../checks/criterion.js';
import { evaluateChecks } from '../checks/evaluate-checks.js';
import { confirmed, inDoubt } from '../checks/hear-again.js';
import { mayHaveLeft } from '../checks/transfers.js';
import { type Clock, RealClock } from '../time/clock.js';
import { type ConversationResult, runConversation } from '../conversation/conversation.js';
import {
  recordedConversation,
  runVoiceConversation,
  type VoiceConversationResult,
  type VoiceOptions,
} from '../voice/conversation/voice-conversation.js';
import type { RecordedCall, VoiceTransport } from '../voice/wire/voice-transport.js';
import type { VoiceResult, WordSource } from '../voice/facts/results.js';
import { type TranscribedCall, transcribedConversation } from '../voice/conversation/transcribed.js';
import { failure } from '../timeline/failure.js';
import type { CriterionResult } from '../judge/criterion-result.js';
import type { JudgeSamples } from '../judge/judge.js';
import { judgeCall, type Judgement } from '../judge/judge-call.js';
import { JUDGE_PROMPT_VERSION } from '../judge/prompt.js';
import type { LanguageModel } from '../model/llm.js';
import { measure, type Measures } from '../measures/measures.js';
import { isReliable, type Reliability, reliabilityOf } from '../time/stalls.js';
import { truncate } from '../timeline/text.js';
import { ModelMeter, testerUsage } from '../measures/tester-usage.js';
import { type EndEntry, Timeline, type TimelineEntry } from '../timeline/timeline.js';
import type { TakeReports } from '../conversation/reported-tools.js';
import { mistakenResult, withStoredResults } from '../conversation/tool-results.js';
import type { Transport } from '../conversation/transport.js';
import type { PersonalDataRedaction } from '../production/personal-data.js';
import { inapplicable } from './applicability.js';
import type { CallVersions } from './call-versions.js';
import { unexercised } from '../validity/exercise.js';
import { findInvalidity, isMetByLines } from '../validity/find-invalidity.js';
import type { Invalidity } from '../validity/invalidity.js';
import { otherLanguage } from '../validity/other-language.js';
import { rootCauses } from './root-causes.js';
import { decide, type Verdict } from './verdict.js';

/** Increased, once between two releases, when the same call could get a different result. */
export const SIMULATION_VERSION = '3';
/** How long the caller waits for an answer, by default. */
export const DEFAULT_PATIENCE_MS = 5_000;

export interface CallOptions {
  readonly definition: EvaluationDefinition;
  readonly scenario: Scenario;
  readonly personality: Personality;
  readonly transport: Transport | VoiceTransport | RecordedCall | TranscribedCall;
  /** Verdicts on the criteria that are taken over; no model is then asked. */
  readonly judged?: Pick<CallResult, 'checks' | 'criteria' | 'invalidity'>;
  /** Required for a `VoiceTransport`. */
  readonly voice?: VoiceOptions;
  /** Decides whether a production call is judged at all. */
  readonly appliesTo?: NestedCheck;
  /** Redacts what the judge and the readers of the result get. Checks decide on the words as they were said. */
  readonly redaction?: PersonalDataRedaction;
  /** Checks that were decided on words that are redacted by now. */
  readonly decided?: readonly CheckResult[];
  /** The reason why criteria are not judged; without it, and without a model, none is configured. */
  readonly unjudged?: string;
  /** Plays callers without a script and judges criteria. Without a model, criteria are not judged. */
  readonly model?: LanguageModel;
  readonly clock?: Clock;
  /** Aborts the call; `executeCall` then throws its reason. */
  readonly signal?: AbortSignal;
  /** Called with what is known of a call that was aborted, as the result of an interrupted attempt. */
  readonly onAborted?: (result: CallResult) => void;
  readonly patienceMs?: number;
  /** Verdicts on one statement: 3 (default) takes two, and a third when they disagree; 1 takes one. */
  readonly judgeSamples?: JudgeSamples;
  /** Present if the backend of the agent reports its tool calls. */
  readonly takeReports?: TakeReports;
  readonly onProgress?: (progress: CallProgress) => void;
}

export type CallPhase = 'talking' | 'checking' | 'judging';
export type CallProgress =
  { readonly type: 'phase'; readonly phase: CallPhase } | { readonly type: 'entry'; readonly entry: TimelineEntry };

/** The complete result of a call; plain JSON. */
export interface CallResult extends Verdict {
  readonly timeline: readonly TimelineEntry[];
  readonly end: Pick<EndEntry, 'by' | 'code' | 'reason'>;
  readonly checks: readonly CheckResult[];
  readonly criteria: readonly CriterionResult[];
  readonly measures: Measures;
  /** How the caller broke its role; null if it did not. */
  readonly invalidity: Invalidity | null;
  readonly versions: CallVersions;
  /** Number of the caller's turns that the agent answered with words, and its greeting. */
  readonly answeredTurns: number;
  /** What was sent to the agent and came back; null if the agent was not called, or runs in this process. */
  readonly exchange: CallExchange | null;
  /** The model's answers as the caller, and on the caller's role, that could not be used, at most `UNUSABLE_ANSWER_LIMITS.answers`. */
  readonly unusableAnswers: readonly UnusableAnswer[];
  /** How far the tester kept up with the call. */
  readonly reliability: Reliability;
  /** Null for a text call, and if there was no call. */
  readonly voice: VoiceResult | null;
  /** Why there is no recording; set by the recording sink. */
  readonly recordingOmitted?: RecordingOmitted;
  /** Why the sound of a production call was not measured, as a sentence without full stop; absent if it was, or was not to be. */
  readonly unmeasured?: string;
}

/** Switched off, the workspace keeps as much as it may, or the recording could not be written. */
export const RECORDING_OMITTED = ['off', 'quota', 'disk'] as const;
export type RecordingOmitted = (typeof RECORDING_OMITTED)[number];

/**
 * Runs one call: talks to the agent, evaluates the checks, has the criteria judged and decides the outcome.
 * Failures of the agent, the network or the language model are results, not exceptions.
 * @throws the signal's reason
 */
export async function executeCall(options: CallOptions): Promise<CallResult> {
  const clock = options.clock ?? new RealClock();
  const stopWatching = clock.watchStalls();
  try {
    return await new Call(options, clock).execute();
  } finally {
    stopWatching();
  }
}

const isOver = (transport: CallOptions['transport']): transport is RecordedCall | TranscribedCall =>
  'facts' in transport || 'transcript' in transport;

const isFromAgent = (entry: TimelineEntry): boolean =>
  entry.type === 'tool_call' || (entry.type === 'speech' && entry.speaker === 'agent');

class Call {
  private readonly signal: AbortSignal;
  private readonly callerMeter: ModelMeter;
  private readonly judgeMeter: ModelMeter;
  private readonly timeline: Timeline;
  private readonly unusable: UnusableAnswer[] = [];
  private readonly kind: CallVersions['caller'];

  constructor(
    private readonly options: CallOptions,
    private readonly clock: Clock,
  ) {
    this.signal = options.signal ?? new AbortController().signal;
    const { transport } = options;
    const secrets = isOver(transport) ? [] : (transport.secrets?.spoken ?? []);
    const onEntry = (entry: TimelineEntry) => options.onProgress?.({ type: 'entry', entry: { ...entry } });
    this.timeline = new Timeline(onEntry, new Redaction(secrets));
    this.callerMeter = new ModelMeter(options.model?.prices);
    this.judgeMeter = new ModelMeter(options.model?.prices);
    const isRecorded = 'transcript' in transport || ('facts' in transport && transport.clock === 'recorded');
    this.kind = isRecorded ? 'recorded' : options.definition.script.length > 0 ? 'scripted' : 'generated';
  }

  async execute(): Promise<CallResult> {
    this.signal.throwIfAborted();
    try {
      return await this.run();
    } catch (error) {
      if (this.signal.aborted) this.options.onAborted?.(this.interrupted());
      throw error;
    }
  }

  private async run(): Promise<CallResult> {
    const { definition } = this.options;
    this.enter('talking');
    const conversation = this.cleaned(await this.talk());
    this.enter('checking');
    const { entries } = this.timeline;
    const { redaction } = this.options;
    const readable = redaction ? await redaction.entries(entries, this.yielder()) : entries;
    const redacted = <T>(found: T): T => redaction?.findings(found, readable) ?? found;
    const { stalls } = conversation;
    const view = CallView.of(entries, stalls, conversation.heard, conversation.unknownTools);
    // If the call broke off before the agent said or did anything, checks would prove nothing.
    const wasAgentSilent = conversation.failure?.fault === 'infrastructure' && !entries.some(isFromAgent);
    const { soundChecks, frameLatenessMs, lagMs, voice = null } = conversation;
    const left = redacted(await inapplicable(this.options.appliesTo, view, this.yielder(), soundChecks));
    const applicable = wasAgentSilent || left ? [] : definition.checks;
    const broken = left ?? this.invalidity(conversation);
    const spokeOther = broken?.code === 'no_answer' ? await this.otherLanguage(view, conversation) : undefined;
    const invalidity = spokeOther === undefined ? broken : undefined;
    let judged = await this.judge(conversation, readable, invalidity, voice?.wordsFrom?.source);
    const leaf = judgedLeaf(verdictsOn(criteriaIn(applicable), judged.inChecks));
    const evaluated = await evaluateChecks(applicable, view, this.yielder(), soundChecks, leaf);
    const decided = new Map(this.options.decided?.map((check) => [check.index, check]));
    const found = evaluated.map((check) => decided.get(check.index) ?? check);
    const checks = redacted(await this.confirmed(applicable, found, { view, judged: leaf }, conversation));
    if (isMetByLines(definition, conversation.end, checks)) judged = { ...judged, invalidity: undefined };
    const isProduction = conversation.end.recorded?.isProduction === true;
    const verdict = decide({
      ...conversation,
      ...judged,
      checks,
      causes: redacted(rootCauses(view)),
      mistaken: mistakenResult(definition.toolResults, entries),
      otherLanguage: spokeOther,
      unexercised: unexercised({ ...definition, view, ...(conversation.sound && { sound: conversation.sound }) }),
      isProduction,
      mayHaveLeft: mayHaveLeft(applicable, checks, view),
      gaveUpWhileStalled: conversation.end.code === 'agent_silent' && !isReliable(view.stallInSilences),
    });
    const { by, code, reason } = conversation.end;
    return {
      ...redacted(verdict),
      timeline: withStoredResults(readable),
      end: redacted({ by, code, reason }),
      checks,
      criteria: judged.criteria,
      measures: redacted(measure(entries, testerUsage(this.callerMeter, this.judgeMeter), stalls)),
      invalidity: judged.invalidity ?? null,
      versions: this.versions(),
      answeredTurns: conversation.answeredTurns,
      exchange: conversation.exchange,
      unusableAnswers: withJudges(this.unusable, judged.unusableAnswers),
      reliability: { ...reliabilityOf(stalls), ...(frameLatenessMs && { frameLatenessMs }), ...(lagMs && { lagMs }) },
      voice,
    };
  }

  /** A call is not decided by what a recogniser may have misheard. */
  private async confirmed(
    checks: readonly Check[],
    found: readonly CheckResult[],
    heard: Pick<Parameters<typeof inDoubt>[2], 'view' | 'judged'>,
    { hearAgain, soundChecks }: Partial<VoiceConversationResult>,
  ): Promise<readonly CheckResult[]> {
    if (!hearAgain || !soundChecks) return found;
    const { script } = this.options.definition;
    const first = { ...heard, script, soundChecks, yieldToEventLoop: this.yielder() };
    const doubts = await inDoubt(checks, found, first);
    return doubts.size === 0 ? found : confirmed(checks, found, doubts, { first, second: await hearAgain() });
  }

  private talk(): Promise<ConversationResult & Partial<VoiceConversationResult>> {
    const { definition, transport, voice, patienceMs = DEFAULT_PATIENCE_MS, takeReports } = this.options;
    const { clock, timeline, signal } = this;
    const language = this.options.scenario.language ?? DEFAULT_LANGUAGE;
    if ('transcript' in transport) return Promise.resolve(transcribedConversation(transport, timeline));
    if ('facts' in transport) return Promise.resolve(recordedConversation(transport, definition, timeline));
    if ('call' in transport) {
      if (!voice) throw new TypeError('A voice call needs the option "voice".');
      const caller = this.caller();
      const call = { transport, definition, caller, clock, language, voice, timeline, signal, takeReports };
      return runVoiceConversation(call);
    }
    const { maxTurns, maxDurationSeconds } = definition;
    timeline.given(historyOf(definition));
    return runConversation({
      transport,
      caller: this.caller(),
      history: historyOf(definition),
      toolResults: definition.toolResults,
      clock,
      timeline,
      maxTurns,
      maxDurationSeconds,
      patienceMs,
      signal,
      takeReports,
    });
  }

  /** A failure may quote what the agent did. */
  private cleaned<T extends ConversationResult>(conversation: T): T {
    const { failure: broken } = conversation;
    if (!broken) return conversation;
    return { ...conversation, failure: { ...broken, message: this.timeline.cleaned(broken.message) } };
  }

  private yielder() {
    return eventLoopYielder(this.clock, this.signal);
  }

  /** The transcript so far; nothing is decided. */
  private interrupted(): CallResult {
    const { timeline } = this;
    const broken = failure('interrupted');
    const at = Math.max(0, ...timeline.entries.map((entry) => entry.end));
    timeline.failed(broken, at);
    const { by, code, reason } = timeline.ended('tester', 'failure', broken.message, at);
    const end = { by, code, reason };
    return {
      ...decide({ checks: [], criteria: [], end, failure: broken, invalidity: undefined }),
      timeline: timeline.entries,
      end,
      checks: [],
      criteria: [],
      measures: measure(timeline.entries, testerUsage(this.callerMeter, this.judgeMeter)),
      invalidity: null,
      versions: this.versions(),
      answeredTurns: 0,
      exchange: null,
      unusableAnswers: this.unusable,
      reliability: reliabilityOf([]),
      voice: null,
    };
  }

  private caller(): Caller {
    const { definition, personality, scenario, model, transport } = this.options;
    if (this.kind === 'scripted') return new ScriptedCaller(definition.script, this.yielder());
    if (!model) return NO_CALLER;
    const { clock, callerMeter: meter, onUnusable } = this;
    const isVoice = 'call' in transport;
    const history = historyOf(definition);
    return new GeneratedCaller({ history, model, personality, scenario, isVoice, clock, meter, onUnusable });
  }

  private invalidity({ failure, wasAgentActing }: ConversationResult): Invalidity | undefined {
    // A recorded caller has no role that it could break.
    if (failure || this.kind === 'recorded') return undefined;
    const { personality, scenario } = this.options;
    return findInvalidity({ kind: this.kind, entries: this.timeline.entries, wasAgentActing, personality, scenario });
  }

  /** A recogniser may mishear one language as another, so both hearings must agree. */
  private async otherLanguage(
    view: CallView,
    { hearAgain }: Partial<VoiceConversationResult>,
  ): Promise<string | undefined> {
    const { definition, scenario } = this.options;
    const input = { script: definition.script, scenario };
    const spoken = await otherLanguage({ ...input, view });
    if (spoken === undefined || !hearAgain) return spoken;
    const second = await hearAgain();
    return second && (await otherLanguage({ ...input, view: second.view })) === spoken ? spoken : undefined;
  }

  private async judge(
    { failure: broken }: Pick<ConversationResult, 'failure'>,
    entries: readonly TimelineEntry[],
    invalidity: Invalidity | undefined,
    wordSource: WordSource | undefined,
  ): Promise<Judgement> {
    const { definition, model, scenario, judged, judgeSamples: samples, unjudged } = this.options;
    const { clock, signal, judgeMeter: meter } = this;
    const isGenerated = this.kind === 'generated';
    // Only a model can tell whether a generated caller kept its role.
    if (judged) {
      const { criteria, checks } = judged;
      const broken = (invalidity ?? (isGenerated && judged.invalidity)) || undefined;
      return { criteria, inChecks: recordedVerdicts(this.options.definition.checks, checks), invalidity: broken };
    }
    return judgeCall({
      ...{ definition, scenario, entries, isGenerated, wordSource, broken, invalidity, unjudged },
      ...{ model, samples, clock, signal, meter },
      onJudging: () => this.enter('judging'),
    });
  }

  private readonly onUnusable = (answer: string): void => {
    if (this.unusable.length === UNUSABLE_ANSWER_LIMITS.answers) return;
    this.unusable.push({ task: 'caller', text: truncate(answer, UNUSABLE_ANSWER_LIMITS.text) });
  };

  private enter(phase: CallPhase): void {
    this.options.onProgress?.({ type: 'phase', phase });
  }

  private versions(): CallVersions {
    const isGenerated = this.kind === 'generated';
    const hasJudged = this.judgeMeter.use.requests > 0;
    const usesModel = isGenerated || hasJudged;
    const { engine } = this.options.voice ?? {};
    return {
      simulation: SIMULATION_VERSION,
      transport: this.options.transport.name,
      caller: this.kind,
      model: usesModel ? (this.options.model?.model ?? null) : null,
      callerPrompt: isGenerated ? CALLER_PROMPT_VERSION : null,
      judgePrompt: hasJudged ? JUDGE_PROMPT_VERSION : null,
      ...(engine !== undefined && { speech: engine }),
    };
  }
}
