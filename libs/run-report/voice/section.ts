import { html, type Html, NOTHING } from '../html.js';
import { facts } from '../parts.js';
import type { ReportedCall, ReportedRun } from '../reported.js';
import { joinSpeech, spokenDifferences, type SpeechEntry } from '../../simulation/index.js';
import { clipped, count, duration, moment, number, percent } from '../../text/index.js';
import { signs, voiceFigure } from './figure.js';
import { audioElement } from './player.js';
import type { ReportedAudio, ReportedVoice } from './reported-voice.js';

export type RecordingAddresses = Pick<ReportedRun, 'serviceUrl' | 'recordingOf'>;

/** The call as heard, with its audio if that is part of the page. */
export function voiceSection(
  { id, voice, timeline, measures }: Pick<ReportedCall, 'id' | 'voice' | 'timeline' | 'measures'>,
  audio: ReportedAudio | undefined,
  elsewhere: RecordingAddresses,
): Html {
  if (!voice) return NOTHING;
  const whole = Math.max(1, measures?.durationMs ?? 0, (voice.recording?.seconds ?? 0) * 1000);
  const hasAudio = audio?.wav !== undefined;
  return html`<section class="voice">
    <h5>As heard</h5>
    <div class="player" data-seconds="${whole / 1000}" ${hasAudio && KEYBOARD}>
      ${voiceFigure({ voice, audio, timeline, whole })}
      ${hasAudio ? html`${audioElement(audio.wav)} <small>Click the picture, or press a time of the transcript, to play from there; arrow keys move by 2 s.</small>` : listenAt(id, voice, elsewhere)}
    </div>
    ${legend(voice, timeline)} ${differences(timeline)} ${heardFacts(voice)}
  </section>`;
}

const KEYBOARD = html`tabindex="0" role="group" aria-label="Recording"`;

function listenAt(id: string, { recording }: ReportedVoice, { serviceUrl, recordingOf }: RecordingAddresses): Html {
  if (!recording) return html`<p class="note">There is no recording of this call.</p>`;
  if (recordingOf) {
    const address = recordingOf(id);
    if (address === null) return html`<p class="note">The recording is not part of this page.</p>`;
    return html`<p class="note"><a href="${address}">Listen to the recording</a></p>`;
  }
  const path = `/calls/${id}/recording`;
  if (serviceUrl === null) return html`<p class="note">Listen with <code>GET ${path}</code>.</p>`;
  return html`<p class="note">
    Listen at <a href="${serviceUrl}${path}">${path}</a> (needs an API key):
    <code>curl -H "Authorization: Bearer $VAT_API_KEY" -o call.wav ${serviceUrl}${path}</code>
  </p>`;
}

const legend = (voice: ReportedVoice, timeline: ReportedCall['timeline']): Html =>
  html`<p class="legend" aria-hidden="true">
    <span class="caller">Caller</span> <span class="agent">Agent</span> <span class="waiting">latency as heard</span>
    ${voice.measures.interruptions.length > 0 && html`<span class="error">both at once</span>`}
    ${signs(voice, timeline).map((sign) => html`<span class="sign">${sign}</span> `)}
  </p>`;

/** Where the agent was heard to say something else than it generated. */
function differences(timeline: ReportedCall['timeline']): Html {
  const speech = timeline.filter((entry): entry is SpeechEntry => entry.type === 'speech' && entry.speaker === 'agent');
  const lines = speech.flatMap(({ alternative, turn, start }) => {
    if (!alternative) return [];
    const heard = joinSpeech(speech.filter((entry) => entry.turn === turn));
    return spokenDifferences(alternative.text, heard).map(({ first, second }) => ({ start, first, second }));
  });
  if (lines.length === 0) return NOTHING;
  return html`<ul class="differences">
    ${lines
      .slice(0, MAX_DIFFERENCES)
      .map(
        ({ start, first, second }) =>
          html`<li>
            <time data-ms="${start}">${moment(start)}</time> generated ${quoted(first)}, heard ${quoted(second)}
          </li>`,
      )}
    ${lines.length > MAX_DIFFERENCES && html`<li>and ${number(lines.length - MAX_DIFFERENCES)} more</li>`}
  </ul>`;
}

const MAX_DIFFERENCES = 20;

const quoted = (text: string): string => (text === '' ? 'nothing' : `“${clipped(text, 200)}”`);

/** "1 of 2 yielded to, 1 undecided"; undefined if there is nothing to count. @param results null is undecided */
function shareOf(results: readonly (boolean | null)[], what: string): string | undefined {
  const decided = results.filter((result) => result !== null);
  const open = results.length - decided.length;
  const parts = [
    decided.length > 0 && `${decided.filter(Boolean).length} of ${decided.length} ${what}`,
    open > 0 && `${open} undecided`,
  ];
  return parts.filter(Boolean).join(', ') || undefined;
}

const interruptionsText = (total: number, overlapMs: number): string =>
  total === 0 ? '0' : `${total}, ${duration(overlapMs)} at once`;

const gapsText = ({ gaps, perMinute }: ReportedVoice['measures']['choppiness']): string | undefined =>
  gaps === null || perMinute === null ? undefined : gaps === 0 ? 'none' : `${gaps}, ${number(perMinute)} per minute`;

const modelText = (model: string | null): string => (model === null ? '' : ` by ${clipped(model, 80)}`);

const SOURCES = {
  wire: 'reported by the platform',
  recogniser: 'transcribed',
  transcript: 'from the transcript',
} as const;

/** Where the agent's words come from, and how fast it spoke. */
function wordsText({ wordsFrom, measures }: ReportedVoice): string | undefined {
  if (!wordsFrom) return undefined;
  const rate = measures.agentWordsPerMinute;
  const times = wordsFrom.times === 'word' ? 'with their times' : 'times estimated';
  const by = SOURCES[wordsFrom.source] + modelText(wordsFrom.model);
  return `${by}, ${times}${rate === null ? '' : `; ${number(Math.round(rate))} per minute`}`;
}

function heardFacts(voice: ReportedVoice): Html {
  const { measures, wireFindings, frameLatenessMs } = voice;
  const { background, deadAir, interruptions, level, speech, speechShare, choppiness, bargeIns, backchannels } =
    measures;
  const tried = bargeIns.filter(({ possible }) => possible);
  const errors = wireFindings.filter(({ severity }) => severity === 'error').length;
  return facts([
    ['Greeting after', measures.greetingMs === null ? undefined : duration(measures.greetingMs)],
    [
      'Barge-ins',
      shareOf(
        tried.map(({ yielded }) => yielded),
        'yielded to',
      ),
    ],
    [
      'Backchannels and noises',
      shareOf(
        backchannels.map(({ kept }) => kept),
        'spoken through',
      ),
    ],
    [
      'Interruptions by the agent',
      measures.overlapMs === null ? undefined : interruptionsText(interruptions.length, measures.overlapMs),
    ],
    [
      'Dead air',
      deadAir.over3s === 0 ? 'none over 3 s' : `${deadAir.over3s} over 3 s, longest ${duration(deadAir.longestMs)}`,
    ],
    [
      'Speech of agent and caller',
      `${duration(speech.agentMs)} and ${duration(speech.callerMs)}${speechShare === null ? '' : ` (${percent(speechShare)})`}`,
    ],
    ['Words of the agent', wordsText(voice)],
    ['Gaps in the audio', gapsText(choppiness)],
    [
      'Level',
      level.inaudible
        ? 'inaudible'
        : level.agentDbfs === null
          ? undefined
          : `${number(level.agentDbfs)} dBFS${level.clippedPercent ? `, ${number(level.clippedPercent)} % clipped` : ''}`,
    ],
    [
      'Background audio',
      background ? `${number(background.dbfs)} dBFS from ${duration(background.fromMs)} on` : undefined,
    ],
    [
      'Protocol',
      measures.clock === 'recorded'
        ? undefined
        : wireFindings.length === 0
          ? 'clean'
          : `${count(wireFindings.length, 'finding')}${errors === 0 ? '' : `, ${count(errors, 'error')}`}`,
    ],
    [
      'Tester’s lateness',
      frameLatenessMs && `p99 ${number(frameLatenessMs.p99)} ms, worst ${number(frameLatenessMs.worst)} ms`,
    ],
  ]);
}
