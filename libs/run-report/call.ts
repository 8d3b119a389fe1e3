import { attemptsSection } from './attempts.js';
import { findingsOf, findingsSection } from './findings.js';
import type { CallState } from '../statistics/index.js';
import { html, type Html, NOTHING } from './html.js';
import { latencyLabels } from './latency.js';
import { badge, facts } from './parts.js';
import { type ReportedAttempt, type ReportedCall, reasonOf, stateOf } from './reported.js';
import { between, count, duration, number, percent } from '../text/index.js';
import { type RecordingAddresses, type ReportedAudio, voiceSection } from './voice/index.js';
import { transcriptSection } from './transcript.js';
import { anchors } from './labels.js';

const MAX_REASON = 1_000;

export interface Placement {
  /** Index of its evaluation in the plan. */
  readonly position: number;
  readonly repeat: number;
  /** Calls of its case; less than `repeat` on a day of production calls, where that is a limit. */
  readonly total: number;
  readonly isOpen: boolean;
  /** Whether the transcript is included. */
  readonly isWhole: boolean;
  /** The same for an earlier attempt. */
  readonly isAttemptWhole: (attempt: ReportedAttempt) => boolean;
  /** Language of the call, BCP 47. */
  readonly language: string | null;
  readonly audio: ReportedAudio | undefined;
  /** Where recordings are that are not on the page. */
  readonly elsewhere: RecordingAddresses;
}

/** One call: the outcome in one line, and the details with the transcript. */
export function callDetails(call: ReportedCall, placement: Placement): Html {
  const { position, repeat, total, isOpen, isWhole, isAttemptWhole, language } = placement;
  const state = stateOf(call);
  const anchor = anchors.call(position, call.repetition);
  const title = repeat > 1 ? `Call ${call.repetition}${total === repeat ? ` of ${repeat}` : ''}` : 'Call';
  return html`<details class="call ${state}" ${isOpen ? OPEN : NOTHING}>
    <summary>
      ${badge(state)}
      <h4>${title}</h4>
      ${glance(call)}
    </summary>
    <div class="body" id="${anchor}">
      ${!(isWhole && isExplainedByFindings(call)) && reason(call, state)}
      ${isWhole ? insight(call, anchor, placement) : leftOut(call)}
      ${attemptsSection(call, anchor, isAttemptWhole, language)}
      <p class="note">
        Call
        <code>${call.id}</code
        >${call.externalId !== null && html`, where it was recorded <code>${call.externalId}</code>`}${call.attempts > 1 && `, ${ordinal(call.attempts)} attempt`}
      </p>
    </div>
  </details>`;
}

const OPEN = html`open`;

const ordinal = (n: number): string =>
  `${n}${['th', 'st', 'nd', 'rd'][n % 100 > 10 && n % 100 < 14 ? 0 : n % 10] ?? 'th'}`;

/** Numbers in the summary line. */
function glance({ score, measures, startedAt, endedAt, timeline, retries }: ReportedCall): Html {
  const took = measures?.durationMs ?? between(startedAt, endedAt);
  const worst = measures?.latency.worst;
  return html`<span class="glance">
    ${score !== null && html`<span>score ${number(score)}</span>`}
    ${took !== undefined && timeline.length > 0 && html`<span>${duration(took)}</span>`}
    ${retries > 0 && html`<span class="retried">${count(retries + 1, 'attempt')}</span>`}
    ${worst != null && html`<span>slowest answer ${duration(worst)}</span>`}
  </span>`;
}

/** The simulation starts a reason like this if findings decided; they say the same in more detail. */
const isExplainedByFindings = ({ reason: text, provisional }: ReportedCall): boolean =>
  !provisional && (text?.startsWith('Not met: ') ?? false);

function reason(call: ReportedCall, state: CallState): Html {
  const note = UNCOUNTED_NOTES[state];
  if (call.reason === null) {
    const words = state === 'cancelled' ? 'It was cancelled before it ended.' : 'It has not ended yet.';
    return html`<p class="reason">${words}</p>`;
  }
  return html`<p class="reason" dir="auto">${reasonOf(call, MAX_REASON)}</p>
    ${note && html`<p class="note">${note}</p>`}`;
}

const UNCOUNTED_NOTES: Readonly<Partial<Record<CallState, string>>> = {
  invalid: 'The simulated caller broke its role: this says nothing about the agent, and is not counted.',
  error: 'The agent could not be tested: this says nothing about it, and is not counted.',
  provisional: 'The evaluation was provisional: this is not counted.',
};

const leftOut = ({ id }: ReportedCall): Html =>
  html`<p class="note">The transcript is omitted here; read it with <code>GET /calls/${id}</code>.</p>`;

function insight(call: ReportedCall, anchor: string, { language, audio, elsewhere }: Placement): Html {
  const findings = findingsOf(call);
  return html`${findingsSection(call, anchor, findings)} ${voiceSection(call, audio, elsewhere)}
  ${transcriptSection(call, anchor, findings, language)} ${measuresSection(call)}`;
}

/** A measured time with how long the tester stalled inside it. */
const withUncertainty = (time: string, plusMinusMs = 0): string =>
  plusMinusMs === 0 ? time : `${time} ± ${duration(plusMinusMs)}`;

function measuresSection({ measures }: ReportedCall): Html {
  if (!measures) return NOTHING;
  const { latency, words, talkRatio, tester, timeToFirstWordMs, longestSilenceMs, plusMinusMs } = measures;
  const [p50, p95, worst] = latencyLabels(latency);
  const { caller, judge } = tester;
  const requests = caller.requests + judge.requests;
  const tokens = [caller, judge].reduce((sum, use) => sum + use.promptTokens + use.completionTokens, 0);
  return html`<section class="measures">
    <h5>Measures</h5>
    ${facts([
      ['Duration', withUncertainty(duration(measures.durationMs), plusMinusMs?.durationMs)],
      ['Turns', number(measures.turns)],
      ['Latency p50', p50],
      ['p95', latency.p95 === null ? undefined : p95],
      ['Worst', withUncertainty(worst, latency.plusMinusMs)],
      [
        'First word after',
        timeToFirstWordMs === null ? '–' : withUncertainty(duration(timeToFirstWordMs), plusMinusMs?.timeToFirstWordMs),
      ],
      [
        'Longest silence',
        longestSilenceMs === null ? '–' : withUncertainty(duration(longestSilenceMs), plusMinusMs?.longestSilenceMs),
      ],
      [
        'Words, caller and agent',
        words.agent === null ? undefined : `${number(words.caller)} and ${number(words.agent)}`,
      ],
      ['Agent’s share of words', words.agent === null ? undefined : talkRatio === null ? '–' : percent(talkRatio)],
      ['Tool calls', measures.toolCalls === null ? 'not known' : number(measures.toolCalls)],
      [
        'Tester’s own models',
        requests === 0 ? undefined : `${count(requests, 'request')}, ${count(tokens, 'token')}, not included above`,
      ],
    ])}
  </section>`;
}
