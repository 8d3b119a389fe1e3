import { DEFAULT_LANGUAGE, personalityFields, withVariables } from '../evaluation-definition/index.js';
import { misfitOf, type ProtocolModule, type ProtocolName, PROTOCOLS } from '../simulation/index.js';
import { callerLanguages, type VoiceServers } from '../speech/index.js';
import type { PlannedEvaluation } from './planned-evaluation.js';

/** Why an evaluation whose personality was deleted cannot be run. */
export const PERSONALITY_DELETED = 'its personality was deleted; choose another one';

const DEFAULT_PROVIDER = personalityFields.provider.default;

/** What calls are made with. */
export interface Equipment {
  /** How the agent is called. */
  readonly protocol: ProtocolName;
  /** Whether a language model is configured. */
  readonly hasModel: boolean;
  readonly speechServers: VoiceServers;
}

/** Evaluations that cannot be run with this protocol and these engines: index in the list, name, and the first reason. */
export function misfits(evaluations: readonly PlannedEvaluation[], equipment: Equipment) {
  return evaluations.flatMap((evaluation, index) => {
    const { protocol, speechServers } = equipment;
    const reason =
      protocolMisfit(evaluation, PROTOCOLS.of(protocol), speechServers) ?? modelMisfit(evaluation, equipment);
    return reason === undefined ? [] : [{ index, name: evaluation.snapshot.name, reason }];
  });
}

/** The beginning of a sentence: `chat-completions provides`. */
export function protocolsWithWords(): string {
  const names = PROTOCOLS.all.flatMap(({ name, provides }) => (provides.words ? [name] : []));
  return `${names.join(' and ')} ${names.length === 1 ? 'provides' : 'provide'}`;
}

/** What would provide the agent's words; undefined unless an evaluation cannot be run for want of them. */
export function wordsCure(
  evaluations: readonly PlannedEvaluation[],
  { protocol, speechServers }: Pick<Equipment, 'protocol' | 'speechServers'>,
): string | undefined {
  const module = PROTOCOLS.of(protocol);
  const withWords = { ...module, provides: { ...module.provides, words: true } };
  const misfit = (each: PlannedEvaluation, one: ProtocolModule) => protocolMisfit(each, one, speechServers);
  if (evaluations.every((each) => misfit(each, module) === misfit(each, withWords))) return undefined;
  return `protocol: ${protocolsWithWords()} the agent's words; set one in the agent's connection, or start the run with "medium": "text" if the agent also has an address for text`;
}

function protocolMisfit(
  { snapshot, cases }: PlannedEvaluation,
  module: ProtocolModule,
  servers: VoiceServers,
): string | undefined {
  const { language, definition, personality } = snapshot;
  const spoken = callerLanguages(personality.voice?.provider ?? DEFAULT_PROVIDER, servers);
  const rows = hasVariableKinds(definition) ? cases.map(({ variables }) => variables) : [null];
  for (const row of rows) {
    const reason = misfitOf(withVariables(definition, row), language ?? DEFAULT_LANGUAGE, module, spoken);
    if (reason !== undefined) return reason;
  }
  return undefined;
}

/** Whether a variable decides the type of a check or whose words it is about: only then must the rows be examined. */
const hasVariableKinds = ({ checks }: PlannedEvaluation['snapshot']['definition']): boolean =>
  /"(type|speaker)":"[^"]*\{\{/.test(JSON.stringify(checks));

function modelMisfit(
  { snapshot: { definition } }: PlannedEvaluation,
  { hasModel }: Pick<Equipment, 'hasModel'>,
): string | undefined {
  if (hasModel) return undefined;
  const without = (purpose: string) => `no language model is configured to ${purpose} (LLM_BASE_URL, LLM_MODEL)`;
  if (definition.script.length === 0) return `it has no script, and ${without('play its caller')}`;
  const isJudged = definition.criteria.some(({ required }) => required);
  return isJudged ? `it has a required criterion, and ${without('judge it')}` : undefined;
}
