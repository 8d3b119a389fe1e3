import {
  bargeInText,
  platformText,
  soundText,
  CallView,
  END_CODES,
  historySide,
  historyText,
  type EndEntry,
  type ScriptSource,
  type SpeechEntry,
  type TimelineEntry,
  type ToolCallEntry,
} from '../simulation/index.js';
import { type Finding, signOf, stateOfFinding } from './findings.js';
import { html, type Html, NOTHING } from './html.js';
import { type Piece, piecesOf, type Reference, referencesOf } from './highlights.js';
import type { ReportedCall } from './reported.js';
import { clipped, duration, moment, number } from '../text/index.js';
import type { ReportedVoice } from './voice/reported-voice.js';
import { timeAxis } from './time-axis.js';
import { anchors } from './labels.js';

/** Maximum length of one entry; an agent may send a megabyte. */
const MAX_TEXT = 8_000;
/** Maximum length of the result of a tool, or of an instruction to the platform. */
const MAX_DETAIL = 1_000;
/** Why a line of speech has no words. */
const NO_WORDS: Readonly<Partial<Record<NonNullable<SpeechEntry['words']>, string>>> = {
  unknown: 'not known',
  deleted: 'deleted',
  withheld: 'not shown',
};

/** Timeline of a call with highlighted evidence. */
export function transcriptSection(
  { timeline, voice }: Pick<ReportedCall, 'timeline' | 'voice'>,
  anchor: string,
  findings: readonly Finding[],
  language: string | null,
): Html {
  if (timeline.length === 0) return html`<p class="note">Nothing was said.</p>`;
  const references = referencesOf(findings, timeline);
  const answers = answerTimes(timeline, voice);
  return html`<section class="transcript">
    <h5>Transcript</h5>
    ${!voice && timeAxis(timeline)}
    <ol>
      ${timeline.map((entry, index) => {
        const shown = {
          entry,
          anchor,
          index,
          references: references.get(index) ?? [],
          expected: expectedOf(entry, findings),
          answer: answers.get(index),
          language,
        };
        return line(shown);
      })}
    </ol>
  </section>`;
}

interface Answer {
  readonly ms: number;
  readonly isSlowest: boolean;
}

/** Response times, by the index of the first entry of the response. */
function answerTimes(timeline: readonly TimelineEntry[], voice: ReportedVoice | null): ReadonlyMap<number, Answer> {
  const waits = voice
    ? answersHeard(timeline, voice)
    : new CallView(timeline).waits.flatMap(({ ms, answer }) => (answer ? [{ ms, index: answer.index }] : []));
  const slowest = waits.reduce((max, { ms }) => Math.max(max, ms), 0);
  return new Map(waits.map(({ ms, index }) => [index, { ms, isSlowest: waits.length > 1 && ms === slowest }]));
}

/** What was measured, not what the entries show: an agent that was already speaking did not answer. */
function answersHeard(timeline: readonly TimelineEntry[], { measures }: ReportedVoice) {
  return measures.latencies.flatMap(({ turn, heardMs, answered }) => {
    if (heardMs === null || !answered) return [];
    const index = timeline.findIndex(
      (entry, position) =>
        entry.type === 'speech' &&
        entry.speaker === 'agent' &&
        entry.turn === turn &&
        timeline
          .slice(0, position)
          .some((before) => before.turn === turn && isCallers(before) && before.end <= entry.start),
    );
    return index === -1 ? [] : [{ ms: heardMs, index }];
  });
}

const isCallers = (entry: TimelineEntry): boolean => entry.type === 'speech' && entry.speaker === 'caller';

interface Line {
  readonly entry: TimelineEntry;
  readonly anchor: string;
  readonly index: number;
  readonly references: readonly Reference[];
  readonly expected: readonly Finding[];
  readonly answer: Answer | undefined;
  readonly language: string | null;
}

/** What the script expects of a line. */
function expectedOf(entry: TimelineEntry, findings: readonly Finding[]): Finding[] {
  const script = entry.type === 'speech' ? entry.script : undefined;
  if (!script || script.repeated) return [];
  return findings.filter(
    ({ step, answer }) => step === script.step && (answer === undefined || script.answers?.includes(answer)),
  );
}

const expectation = ({ number: n, met, detail, ...finding }: Finding, anchor: string): Html =>
  html`<p class="expected ${stateOfFinding({ met })}">
    <b class="state">${signOf(met)}</b>
    <a href="#${anchors.finding(anchor, n)}" aria-label="No. ${n}, ${clipped(finding.name, 120)}">${n}</a>
    <span dir="auto">${clipped(detail, MAX_DETAIL)}</span>
  </p>`;

function line(shown: Line): Html {
  const { entry, anchor, index } = shown;
  return html`<li class="${kindOf(entry)}" id="${anchors.entry(anchor, index)}">
    <time data-ms="${entry.start}">${moment(entry.start)}</time>
    <div class="said">${content(shown)}</div>
  </li>`;
}

const kindOf = (entry: TimelineEntry): string =>
  entry.type === 'speech' ? `speech ${entry.speaker}` : entry.type === 'tool_call' ? 'tool agent' : entry.type;

function content(shown: Line): Html {
  const { entry, anchor, answer, expected, language } = shown;
  switch (entry.type) {
    case 'speech':
      return html`<p class="who">
          <b>${entry.speaker === 'agent' ? 'Agent' : 'Caller'}</b>
          ${moment(entry.end) !== moment(entry.start) && html`<span>until ${moment(entry.end)}</span>`}
          ${
            answer &&
            html`<span class="answer ${answer.isSlowest && 'slowest'}"
              >answered after ${duration(answer.ms)}${answer.isSlowest && ', the slowest'}</span
            >`
          }
          ${entry.script && html`<span>${scriptSource(entry.script)}</span>`}
          ${entry.bargeIn && html`<span>${bargeInText(entry.bargeIn)}</span>`}
          ${entry.continues && html`<span>after a pause</span>`}
          ${entry.cut && html`<span class="cut">cut off by the end of the call</span>`}
          ${entry.interrupted && html`<span class="cut">broken off: the rest was not heard</span>`}
          ${entry.words === 'partly' && html`<span class="cut">some of its words are not known</span>`}
        </p>
        <p>
          ${
            NO_WORDS[entry.words ?? 'known']
              ? html`<span class="note">speech, words ${NO_WORDS[entry.words ?? 'known']}</span> ${afterwards(shown)}`
              : html`<span class="words" dir="auto" ${language !== null && html`lang="${language}"`}
                    >${marked(entry.text.trim(), shown)}</span
                  >${entry.uncertain && html` <small class="note">${uncertainText(entry)}</small>`}`
          }
        </p>
        ${expected.map((finding) => expectation(finding, anchor))}`;
    case 'tool_call': {
      const wait = entry.end - entry.start >= 1 && html`<span>took ${duration(entry.end - entry.start)}</span>`;
      return html`<p class="who"><b>Tool call</b> ${wait}</p>
        <p>
          <code class="words">${marked(toolCall(entry), { ...shown, references: whole(shown.references) })}</code>
        </p>
        ${entry.arguments === null && html`<p class="cut">The arguments are not a JSON object.</p>`}
        ${entry.result !== undefined && html`<p>Result <code>${resultText(entry.result)}</code></p>`}
        ${entry.isResultOmitted && html`<p class="cut">The result is not stored: the call has too many.</p>`}`;
    }
    case 'sound':
      return html`<p>
        ${marked(soundText(entry), shown)} ${entry.script && html`<span>${scriptSource(entry.script)}</span>`}
      </p>`;
    case 'given':
      return html`<p>
        <b>Before the call, ${historySide(entry.line)}:</b> ${clipped(historyText(entry.line), MAX_TEXT)}
      </p>`;
    case 'finding':
      return html`<p>
        <b>Protocol ${entry.severity}</b> <code>${clipped(entry.code, 80)}</code> ${marked(entry.detail, shown)}
      </p>`;
    case 'platform':
      return html`<p>${clipped(platformText(entry), MAX_DETAIL)}</p>`;
    case 'silence':
      return html`<p>
        ${entry.of === 'agent' ? 'No answer from the agent' : 'The caller is silent'} for
        ${duration(entry.end - entry.start)}${afterwards(shown)}
      </p>`;
    case 'error':
      return html`<p><b>Error</b> <code>${entry.code}</code> ${marked(entry.message, shown)}</p>`;
    case 'end':
      return html`<p>
        <b>${entry.by === 'tester' ? 'The call was ended' : `The ${entry.by} ended the call`}:</b>
        ${marked(entry.reason, shown)}${!isSaid(entry) && html` <small>(${END_CODES[entry.code]})</small>`}
      </p>`;
  }
}

/** The words at which the agent was cut off. */
function uncertainText({ text, uncertain = [] }: SpeechEntry): string {
  const [from, to] = [uncertain[0]?.[0] ?? 0, uncertain.at(-1)?.[1] ?? 0];
  return `It is not certain that "${clipped(text.slice(from, to), 120)}" was heard.`;
}

/** Steps and answers are numbered from 1 for people. */
function scriptSource({ step, answers, otherwise, repeated }: ScriptSource): string {
  const part = otherwise ? ', otherwise' : answers ? `, answer ${answers.map((index) => index + 1).join(' and ')}` : '';
  return `script step ${step + 1}${part}${repeated ? ', repeated' : ''}`;
}

/** Whether the reason already says what the code says. */
const isSaid = ({ code, reason }: EndEntry): boolean =>
  code === 'caller_done' || code === 'agent_hung_up' || reason.toLowerCase().includes(END_CODES[code]);

/** Like `toolCallText`, but with all arguments, and with spaces for line breaks. */
const toolCall = ({ name, arguments: args, rawArguments }: ToolCallEntry): string =>
  `${name}(${args ? JSON.stringify(args, null, 1).replace(/\n */g, ' ') : (rawArguments ?? '')})`;

/** What the tester returned, shortened. */
const resultText = (result: ToolCallEntry['result']): string => clipped(JSON.stringify(result), MAX_DETAIL);

/** Highlights the whole tool call. */
const whole = (references: readonly Reference[]): Reference[] =>
  references.map((reference) => ({ ...reference, quote: '' }));

function marked(text: string, { references, anchor }: Line): Html {
  const shown = clipped(text, MAX_TEXT);
  const left = text.length - shown.length;
  return html`${piecesOf(shown, references).map((piece) => pieceOf(piece, anchor))}${
    left > 0 && html` <small class="left-out">${number(left)} more characters omitted</small>`
  }`;
}

function pieceOf({ text, references }: Piece, anchor: string): Html {
  if (references.length === 0) return html`${text}`;
  const kind = references.some(({ met }) => met === false) ? 'not-met' : 'is-met';
  return html`<mark class="${kind}">${text}</mark>${references.map((reference) => link(reference, anchor))}`;
}

/** Links to findings for an entry without text. */
const afterwards = ({ references, anchor }: Line): Html =>
  references.length === 0 ? NOTHING : html`${references.map((reference) => link(reference, anchor))}`;

function link({ number: n, name, met }: Reference, anchor: string): Html {
  const kind = met === false ? 'not-met' : 'is-met';
  const label = `Evidence for ${n}, ${clipped(name, 120)}`;
  return html`<a class="ref ${kind}" href="#${anchors.finding(anchor, n)}" aria-label="${label}">${n}</a>`;
}
