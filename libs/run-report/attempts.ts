import { between, clipped, duration } from '../text/index.js';
import { html, type Html, NOTHING } from './html.js';
import { badge } from './parts.js';
import type { ReportedAttempt, ReportedCall } from './reported.js';
import { transcriptSection } from './transcript.js';

const MAX_REASON = 1_000;

/**
 * The attempts before the one that counts, collapsed, with their reasons and transcripts.
 * @param isWhole whether the transcript of an attempt is included
 */
export function attemptsSection(
  { earlierAttempts, attempts }: ReportedCall,
  anchor: string,
  isWhole: (attempt: ReportedAttempt) => boolean,
  language: string | null,
): Html {
  if (earlierAttempts.length === 0) return NOTHING;
  return html`<section class="attempts">
    <h5>Earlier attempts</h5>
    ${earlierAttempts.map((attempt, index) => {
      const number = index + 1;
      const took = between(attempt.startedAt, attempt.endedAt);
      return html`<details class="attempt">
        <summary>
          ${badge(attempt.outcome, attempt.failureCode === 'interrupted' ? 'Interrupted' : undefined)}
          <span>Attempt ${number} of ${attempts}${took !== undefined && `, ${duration(took)}`}</span>
        </summary>
        <p class="reason" dir="auto">${clipped(attempt.reason, MAX_REASON)}</p>
        ${transcript(attempt, `${anchor}-a${number}`, isWhole, language)}
        ${attempt.callId !== null && html`<p class="note">The agent received the call id <code>${attempt.callId}</code></p>`}
      </details>`;
    })}
  </section>`;
}

function transcript(
  attempt: ReportedAttempt,
  anchor: string,
  isWhole: (attempt: ReportedAttempt) => boolean,
  language: string | null,
): Html | false {
  if (attempt.timeline.length === 0) return false;
  if (!isWhole(attempt)) return html`<p class="note">Its transcript is omitted here.</p>`;
  return html`${transcriptSection({ ...attempt, voice: null }, anchor, [], language)}
  ${attempt.isShortened && html`<p class="note">Parts were not stored because the attempt was too large.</p>`}`;
}
