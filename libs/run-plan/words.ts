import { withVariables } from '../evaluation-definition/index.js';
import {
  type AgentEndpoint,
  needsWords,
  type ProtocolModule,
  PROTOCOLS,
  type TranscriptionMode,
} from '../simulation/index.js';
import { count } from '../text/index.js';
import type { PlannedEvaluation } from './planned-evaluation.js';

/** What transcribes the agent's audio of voice calls. */
export interface TranscriptionEquipment {
  readonly mode: TranscriptionMode;
  /** What sets the mode: a setting, or the option of a connection. */
  readonly source: string;
  /** Of the configured server; undefined without one. */
  readonly host: string | undefined;
  /** Whether calls that need no words are transcribed, too. */
  readonly isAlways: boolean;
}

interface WordsEquipment {
  readonly protocol: string;
  readonly connectionOptions?: AgentEndpoint['options'];
  readonly hasModel: boolean;
  readonly transcription: TranscriptionEquipment;
}

/** A protocol with the words that its calls have, from wherever. */
export function withTranscription(module: ProtocolModule, equipment: WordsEquipment): ProtocolModule {
  const words = module.provides.words || (module.medium === 'voice' && lackOf(equipment) === undefined);
  return { ...module, provides: { ...module.provides, words } };
}

/** Why the agent's audio cannot be transcribed, as a clause with the setting that would change that; undefined if it can. */
export function lackOf({ transcription: { mode, source, host } }: Pick<WordsEquipment, 'transcription'>) {
  const lacks = [
    ...(mode === 'off' ? [`transcription is off (${source})`] : []),
    ...(host === undefined ? ['no transcription server is configured (STT_BASE_URL)'] : []),
  ];
  return lacks.length === 0 ? undefined : lacks.join(', and ');
}

/** The beginning of a sentence: `chat-completions provides`. */
export function protocolsWith(need: 'words' | 'toolCalls'): string {
  const names = PROTOCOLS.all.flatMap(({ name, provides }) =>
    (need === 'words' ? provides.words : provides.toolCalls !== 'none') ? [name] : [],
  );
  return `${new Intl.ListFormat('en-GB').format(names)} ${names.length === 1 ? 'provides' : 'provide'}`;
}

/** Whether a variable decides the type of a check or whose words it is about: only then must the rows be examined. */
export const hasVariableKinds = ({ checks }: PlannedEvaluation['snapshot']['definition']): boolean =>
  /"(type|speaker)":"[^"]*\{\{/.test(JSON.stringify(checks));

/** What leaves the service because of words, and what a setting cannot do. @param repeat calls of each case */
export function transcriptionWarnings(
  evaluations: readonly PlannedEvaluation[],
  equipment: WordsEquipment,
  repeat: number,
): string[] {
  const { medium, provides } = PROTOCOLS.of(equipment.protocol, equipment.connectionOptions);
  const { mode, source, host } = equipment.transcription;
  if (medium === 'text' || mode === 'off') return [];
  if (host === undefined) {
    const unheard = `transcription is heard (${source}), but no transcription server is configured (STT_BASE_URL)`;
    return mode === 'heard' && provides.words ? [`The words of ${equipment.protocol} count: ${unheard}.`] : [];
  }
  const calls = provides.words && mode === 'auto' ? 0 : transcribedCases(evaluations, equipment) * repeat;
  if (calls === 0) return [];
  return [
    `The agent's audio of ${count(calls, 'call')} is sent to the transcription server ${host}, which may charge for it (STT_BASE_URL).`,
  ];
}

const transcribedCases = (evaluations: readonly PlannedEvaluation[], equipment: WordsEquipment): number =>
  evaluations.reduce((sum, evaluation) => sum + transcribedCasesOf(evaluation, equipment), 0);

function transcribedCasesOf({ snapshot: { definition }, cases }: PlannedEvaluation, equipment: WordsEquipment): number {
  const { hasModel, transcription } = equipment;
  const judged = hasModel ? definition : { ...definition, criteria: [] };
  const isSame = transcription.isAlways || !hasVariableKinds(definition);
  const isTranscribed = (row: PlannedEvaluation['cases'][number]['variables']) =>
    transcription.isAlways || needsWords(isSame ? judged : withVariables(judged, row));
  if (isSame) return isTranscribed(null) ? cases.length : 0;
  return cases.filter(({ variables }) => isTranscribed(variables)).length;
}
