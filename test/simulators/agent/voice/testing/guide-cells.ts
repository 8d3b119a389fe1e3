import type { CheckInput, EvaluationInput } from '../../../../../libs/evaluation-definition/index.js';
import type { CallResult } from '../../../../../libs/simulation/index.js';
import { GUIDE_SCRIPT, guideChecks, guideTurns } from '../../testing/guide-agent.js';
import type { SpeechEngine } from '../../../../../libs/speech/index.js';
import type { PreparedVoice } from '../prepare.js';
import { type Action, scriptedAgent, type Turn } from './scripted-agent.js';

const DURATION = 'Needs at most seven seconds';
const GOODBYE = 'Hangs up within two seconds of the goodbye';
const SILENCE = 'Is never silent for more than three seconds';
const PAUSE = 'Does not pause inside an answer for more than 1.5 seconds';

/** Speech takes longer than text: limits of the guide that are other ones over voice. */
const LIMITS: Readonly<Record<string, object>> = { [DURATION]: { ms: 44_500 }, [GOODBYE]: { withinMs: 4_000 } };

/** Faults in time that are other ones over voice, where an answer takes 700 ms anyway and words take time. */
const OVER_VOICE: Readonly<Record<string, (turn: Turn, index: number) => Turn>> = {
  'Answers within two seconds': (turn, index) => (index === 2 ? [1_800, ...turn] : turn),
  // After its words the caller would take the turn, so the silence is inside an answer.
  [SILENCE]: (turn, index) =>
    index === 2 ? [{ say: 'Thank you, Mr Rossi.' }, 3_500, { say: ' Shall I book it?' }] : turn,
  [DURATION]: (turn, index) => (index === 4 ? turn : turn.flatMap(hesitating)),
};

/** Checks that fail as well, because the fault violates them over voice: a pause is silence, and a long goodbye takes longer. */
const CONSEQUENCES: Readonly<Record<string, readonly string[]>> = {
  [SILENCE]: [PAUSE],
  'Leaves the caller some of the words': [GOODBYE],
};

const HESITATIONS = 4;
const HESITATION_MS = 1_300;

/** The words with pauses between them. */
function hesitating(action: Action): Action[] {
  if (typeof action === 'number' || !('say' in action)) return [action];
  const words = action.say.split(/(?= )/);
  const size = Math.ceil(words.length / (HESITATIONS + 1));
  const parts = Array.from({ length: Math.ceil(words.length / size) }, (_, n) => words.slice(n * size, (n + 1) * size));
  return parts.flatMap((part, n) => [...(n > 0 ? [HESITATION_MS] : []), { say: part.join('') }]);
}

/** The checks of the guide for text calls, for voice calls. @param markdown docs/guides/checks.md */
export const spokenGuideChecks = (markdown: string): (CheckInput & { readonly name: string })[] =>
  guideChecks(markdown).map((check) => ({ ...check, ...LIMITS[check.name] }));

/** Those that an agent can violate over voice by what it says: the same words twice, without a silence between, are one answer. */
export const spokenGuideFaults = (markdown: string): ReturnType<typeof spokenGuideChecks> =>
  spokenGuideChecks(markdown).filter(({ type }) => type !== 'answers');

export function guideEvaluation(markdown: string, seed: number): EvaluationInput {
  const what = { key: 'guide', personalityId: 'any', name: 'Guide', scenarioText: 'You want a table.' };
  return { ...what, script: [...GUIDE_SCRIPT], checks: spokenGuideChecks(markdown), conditions: { seed } };
}

/** The agent of the guide to checks, healthy or with the fault that the check of this name finds. */
export function spokenGuideAgent(speech: SpeechEngine, fault?: string): Promise<PreparedVoice> {
  const turns = spokenTurns(fault);
  return scriptedAgent(speech, { greeting: turns[0], answers: turns.slice(1) });
}

function spokenTurns(fault: string | undefined): Turn[] {
  const change = OVER_VOICE[fault ?? ''];
  const turns = guideTurns(change ? undefined : fault).map((turn) => turn.map(spokenAction));
  return change ? turns.map(change) : turns;
}

const spokenAction = (action: ReturnType<typeof guideTurns>[number][number]): Action =>
  'waitMs' in action ? action.waitMs : action;

/** Whether the check of this name has failed, and no others than its known consequences. */
export function isGuideFaultFound(fault: string, { checks }: Pick<CallResult, 'checks'>): boolean {
  const unmet = checks.filter(({ met }) => met !== true).map(({ name }) => name ?? '');
  return unmet.includes(fault) && unmet.every((name) => name === fault || CONSEQUENCES[fault]?.includes(name));
}
