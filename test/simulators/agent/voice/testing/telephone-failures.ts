import type { CheckInput, EvaluationInput, ScriptStep } from '../../../../../libs/evaluation-definition/index.js';
import type { CallResult } from '../../../../../libs/simulation/index.js';
import type { SpeechEngine } from '../../../../../libs/speech/index.js';
import type { ListeningBehaviour } from '../../../transcription/transcription-double.js';
import { spokenGuideAgent, spokenGuideFaults } from './guide-cells.js';
import { type HeardAgent, heardAgent } from './heard-agent.js';
import { Recognisers } from './recognisers.js';
import type { VoiceCalls } from './voice-call.js';

/** What the server answers to every request. */
const always = (status: number, body: unknown): ListeningBehaviour => ({ failure: { status, body } });
/** A request may take so long here. */
const TIMEOUT_MS = 300;

/** How a transcription server may be. */
export const RECOGNISER_FAILURES = {
  none: {},
  'no times of words': { dialect: 'null' },
  'times that are wrong': { timesOffMs: 60_000 },
  'a tenth of the words misheard': { wordErrors: 0.1 },
  'half of the words misheard': { wordErrors: 0.5 },
  'no words': always(200, { text: '' }),
  'invented text': always(200, { text: 'Thank you. Thank you. Thank you. Thank you.' }),
  'no transcription': always(200, '<html>'),
  'status 500': always(500, 'Internal Server Error'),
  'status 401': always(401, { error: 'Unauthorized' }),
  'a cut connection': { failure: 'hang up' },
  'no answer in time': { afterMs: 2 * TIMEOUT_MS },
  'words too late': {},
} as const satisfies Readonly<Record<string, ListeningBehaviour>>;
export type RecogniserFailure = keyof typeof RECOGNISER_FAILURES;

/** The caller of the guide, with lines that depend on no words: a server that fails then shows in the checks alone. */
const SCRIPT: ScriptStep[] = [
  { say: 'A table for four on Friday at half past seven in the evening, please.' },
  { say: 'My name is Rossi.' },
  { say: 'Yes, please.' },
  { say: 'Thank you, goodbye.' },
  { end: 'The table is booked' },
];

/** Formatting is not heard, and the long answer of the guide repeats a phrase as recognisers do that invent text. */
const NOT_HEARD: readonly CheckInput['type'][] = ['speakable', 'max_answer_words'];

/** Whether a telephone call shows what a check of the guide is about; tool calls are not transmitted. */
export const isHeardOnTelephone = (check: CheckInput): boolean =>
  !JSON.stringify(check).includes('"tool"') && !NOT_HEARD.includes(check.type);

/** Calls of the agent of the guide over Twilio, by transcription servers that fail. */
export class TelephoneFailures {
  private readonly recognisers = new Recognisers();
  private readonly agents = new Map<string | undefined, Promise<HeardAgent>>();
  /** Those of the guide that a telephone shows. */
  readonly checks: ReturnType<typeof spokenGuideFaults>;

  /** @param markdown docs/guides/checks.md */
  constructor(
    private readonly calls: VoiceCalls,
    markdown: string,
  ) {
    this.checks = spokenGuideFaults(markdown).filter(
      // This caller has four turns.
      (check) => isHeardOnTelephone(check) && check.type !== 'max_turns',
    );
  }

  /** @param fault name of the check that the agent violates @param speech speaks the caller's lines */
  async call(failure: RecogniserFailure, fault?: string, speech?: SpeechEngine): Promise<CallResult> {
    const agent =
      this.agents.get(fault) ?? heardAgent(this.calls, ({ synthesiser }) => spokenGuideAgent(synthesiser, fault));
    this.agents.set(fault, agent);
    const { prepared, listener } = await agent;
    const timeoutMs = failure === 'no answer in time' ? TIMEOUT_MS : undefined;
    const recogniser = await this.recognisers.listening(listener, RECOGNISER_FAILURES[failure], timeoutMs);
    const options = { prepared, recogniser, areWordsLate: failure === 'words too late', ...(speech && { speech }) };
    return this.calls.call(this.evaluation, 'slt', options);
  }

  close(): Promise<void> {
    return this.recognisers.close();
  }

  private get evaluation(): EvaluationInput {
    const what = { key: 'guide', personalityId: 'any', name: 'Guide', scenarioText: 'You want a table.' };
    return { ...what, script: SCRIPT, checks: this.checks, conditions: { seed: 1 } };
  }
}

/** `met`, `not met` or `open`: how a check was decided. */
export function decisionOf({ checks }: Pick<CallResult, 'checks'>, name: string): 'met' | 'not met' | 'open' {
  const met = checks.find((check) => check.name === name)?.met;
  return met === true ? 'met' : met === false ? 'not met' : 'open';
}
