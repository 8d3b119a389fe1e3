import type { CheckResult, CriterionResult, Evidence } from '../simulation/index.js';
import { html, type Html, NOTHING } from './html.js';
import type { ReportedCall } from './reported.js';
import { clipped, count, moment } from '../text/index.js';
import { anchors } from './labels.js';

/** Long text of the agent is in the transcript. */
const MAX_TEXT = 1_500;
/** Every criterion of every call can have three samples. */
const MAX_SAMPLE = 500;

/** Result of a check or criterion. */
export interface Finding {
  /** From 1: checks, then criteria, in the order of the definition. */
  readonly number: number;
  /** Kind of the condition, for display. */
  readonly kind: string;
  readonly name: string;
  readonly detail: string;
  readonly weight: number;
  readonly required: boolean;
  /** Null if it is not decided and therefore not counted. */
  readonly met: boolean | null;
  readonly evidence: readonly Evidence[];
  /** What was found for each check in it, if a criterion is among them. */
  readonly parts: NonNullable<CheckResult['parts']>;
  /** All answers of the judge; empty for a check. */
  readonly samples: CriterionResult['samples'];
  /** Of what the script expects of a line: the position of its step, and of the answer in it. */
  readonly step?: number;
  readonly answer?: number;
}

/** All findings of a call, the decisive ones first. */
export function findingsOf({ checks, criteria }: Pick<ReportedCall, 'checks' | 'criteria'>): Finding[] {
  const found = [...checks.map(ofCheck), ...criteria.map((criterion) => ofCriterion(criterion, checks.length))];
  return found.sort((a, b) => rank(a) - rank(b) || a.number - b.number);
}

const rank = ({ met, required }: Finding): number => (met === false ? (required ? 0 : 1) : met === null ? 2 : 3);

const ofCheck = ({ index, type, parts = [], ...check }: CheckResult): Finding => ({
  ...check,
  parts,
  number: index + 1,
  kind: type,
  samples: [],
});

const ofCriterion = (criterion: CriterionResult, checks: number): Finding => ({
  number: checks + criterion.index + 1,
  kind: 'judged',
  name: criterion.turn === undefined ? criterion.text : `Turn ${criterion.turn}: ${criterion.text}`,
  detail: criterion.reason,
  weight: criterion.weight,
  required: criterion.required,
  met: criterion.verdict === 'met' ? true : criterion.verdict === 'not_met' ? false : null,
  evidence: criterion.evidence ? [criterion.evidence] : [],
  parts: [],
  samples: criterion.samples,
});

/** Findings that are not met, followed by a collapsed list of those that are met. */
export function findingsSection(call: ReportedCall, anchor: string, findings: readonly Finding[]): Html {
  if (findings.length === 0) return NOTHING;
  const met = findings.filter((finding) => finding.met === true);
  const open = findings.filter((finding) => finding.met !== true);
  const item = (finding: Finding) => findingItem(finding, call, anchor);
  return html`<section class="findings">
    <h5>Checks and criteria</h5>
    ${
      open.length > 0 &&
      html`<ul>
        ${open.map(item)}
      </ul>`
    }
    ${
      met.length > 0 &&
      html`<details class="met">
        <summary>${met.length} met</summary>
        <ul>
          ${met.map(item)}
        </ul>
      </details>`
    }
  </section>`;
}

function findingItem(finding: Finding, { timeline }: ReportedCall, anchor: string): Html {
  const { number, kind, name, detail, weight, required, evidence, met, parts, samples } = finding;
  const notes = [kind, weight !== 1 && `weight ${weight}`, !required && 'not required'].filter(
    (note) => note !== false,
  );
  const link = (entry: number) =>
    html`<a href="#${anchors.entry(anchor, entry)}">at ${moment(timeline[entry]?.start ?? 0)}</a>`;
  // Most details contain the quote.
  const said = evidence.filter(({ quote }) => detail.includes(quote));
  const unsaid = evidence.filter(({ quote }) => !detail.includes(quote));
  return html`<li class="${stateOfFinding(finding)}" id="${anchors.finding(anchor, number)}">
    <p class="name">
      <b class="state">${signOf(met)}</b> <span dir="auto">${clipped(name, MAX_TEXT)}</span>
      <small>no. ${number} · ${notes.join(' · ')}</small>
    </p>
    <p class="detail"><span dir="auto">${clipped(detail, MAX_TEXT)}</span> ${said.map(({ entry }) => link(entry))}</p>
    ${unsaid.map(({ entry, quote }) => html`<p class="evidence"><q dir="auto">${clipped(quote, MAX_TEXT)}</q> ${link(entry)}</p>`)}
    ${samplesOf(samples, link)} ${partsOf(parts, link)}
  </li>`;
}

function partsOf(parts: Finding['parts'], link: (entry: number) => Html): Html {
  if (parts.length === 0) return NOTHING;
  return html`<ul class="parts">
    ${parts.map(
      ({ name, met, detail, evidence, judged }) =>
        html`<li class="${stateOfFinding({ met })}">
          <p class="detail">
            <b class="state">${signOf(met)}</b> <span dir="auto">${clipped(name, MAX_TEXT)}</span>:
            <span dir="auto">${clipped(detail, MAX_TEXT)}</span> ${evidence.map(({ entry }) => link(entry))}
          </p>
          ${samplesOf(judged?.samples ?? [], link)}
        </li>`,
    )}
  </ul>`;
}

export const stateOfFinding = ({ met }: Pick<Finding, 'met'>): string =>
  met === null ? 'undecided' : met ? 'is-met' : 'not-met';

export const signOf = (met: boolean | null): Html => {
  const [sign, word] = met === null ? ['?', 'Not decided'] : met ? ['✓', 'Met'] : ['✗', 'Not met'];
  return html`<span aria-hidden="true">${sign}</span> ${word}`;
};

/** The answers of the judge. A single one is the detail of the finding, unless it gave no verdict. */
function samplesOf(samples: CriterionResult['samples'], link: (entry: number) => Html): Html {
  if (samples.every(({ met }) => met !== null) && samples.length < 2) return NOTHING;
  return html`<details class="samples">
    <summary>${agreement(samples)}</summary>
    <ol>
      ${samples.map((sample) => sampleItem(sample, link))}
    </ol>
  </details>`;
}

/** A verdict with contradictions or missing answers is less reliable. */
function agreement(samples: CriterionResult['samples']): string {
  const answers = count(samples.length, 'answer');
  const of = (verdict: boolean | null) => samples.filter(({ met }) => met === verdict).length;
  if (of(true) > 0 && of(false) > 0) return `The judge contradicted itself in ${answers}`;
  return of(null) > 0
    ? `The judge gave no verdict in ${of(null)} of ${answers}`
    : `The judge agreed with itself in ${answers}`;
}

function sampleItem(
  { met, reasoning, evidence }: CriterionResult['samples'][number],
  link: (entry: number) => Html,
): Html {
  const word = met === null ? 'No verdict' : met ? 'Met' : 'Not met';
  return html`<li>
    <b>${word}</b>${reasoning !== '' && ': '}<span dir="auto">${clipped(reasoning, MAX_SAMPLE)}</span>
    ${evidence && html`<q dir="auto">${clipped(evidence.quote, MAX_SAMPLE)}</q> ${link(evidence.entry)}`}
  </li>`;
}
