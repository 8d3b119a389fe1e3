import { criteriaIn, DEFAULT_LANGUAGE, personalityFields, withVariables } from '../evaluation-definition/index.js';
import {
  type AgentEndpoint,
  misfitOf,
  type ProtocolModule,
  type ProtocolName,
  PROTOCOLS,
} from '../simulation/index.js';
import { callerLanguages, type VoiceServers } from '../speech/index.js';
import type { PlannedEvaluation } from './planned-evaluation.js';
import { hasVariableKinds, lackOf, protocolsWith, type TranscriptionEquipment, withTranscription } from './words.js';

/** Why an evaluation whose personality was deleted cannot be run. */
export const PERSONALITY_DELETED = 'its personality was deleted; choose another one';

const DEFAULT_PROVIDER = personalityFields.provider.default;

/** What calls are made with. */
export interface Equipment {
  /** How the agent is called. */
  readonly protocol: ProtocolName;
  /** Those of its own connection, without secret ones. */
  readonly connectionOptions?: AgentEndpoint['options'];
  /** Whether a language model is configured. */
  readonly hasModel: boolean;
  readonly speechServers: VoiceServers;
  readonly transcription: TranscriptionEquipment;
  /** Whether the backend of the agent reports its tool calls. */
  readonly reportsTools: boolean;
}

/** Evaluations that cannot be run with this protocol and these engines: index in the list, name, and the first reason. */
export function misfits(evaluations: readonly PlannedEvaluation[], equipment: Equipment) {
  const module = equippedModule(equipment);
  return evaluations.flatMap((evaluation, index) => {
    const reason = protocolMisfit(evaluation, module, equipment) ?? modelMisfit(evaluation, equipment);
    return reason === undefined ? [] : [{ index, name: evaluation.snapshot.name, reason }];
  });
}

/**
 * What would provide the agent's words and tool calls, a sentence each; none unless an evaluation cannot be run for want of
 * them.
 */
export function cures(evaluations: readonly PlannedEvaluation[], equipment: Equipment): string[] {
  const module = equippedModule(equipment);
  const misfit = (each: PlannedEvaluation, one: ProtocolModule) => protocolMisfit(each, one, equipment);
  const isCuredBy = (provides: Partial<ProtocolModule['provides']>): boolean => {
    const cured = { ...module, provides: { ...module.provides, ...provides } };
    return evaluations.some((each) => misfit(each, module) !== misfit(each, cured));
  };
  const way =
    "set one in the agent's connection, or test a second agent with a text connection and the same evaluation keys";
  return [
    ...(isCuredBy({ words: true })
      ? [
          `transcription: ${lackOf(equipment)}; with it, calls over ${module.name} have the agent's words`,
          `protocol: ${protocolsWith('words')} the agent's words; ${way}`,
        ]
      : []),
    ...(isCuredBy({ toolCalls: 'seen' })
      ? [
          ...(module.options['records']
            ? [
                `records: vapi, or retell, in the options of the agent's connection; the platform's record of each call then shows its tool calls`,
              ]
            : []),
          `toolCalls: reported in the options of the agent's connection; its backend then reports its tool calls (POST /tool-calls)`,
          `protocol: ${protocolsWith('toolCalls')} the agent's tool calls; ${way}`,
        ]
      : []),
  ];
}

function equippedModule(equipment: Equipment): ProtocolModule {
  const module = withTranscription(PROTOCOLS.of(equipment.protocol, equipment.connectionOptions), equipment);
  return equipment.reportsTools ? { ...module, provides: { ...module.provides, toolCalls: 'seen' } } : module;
}

function protocolMisfit(
  { snapshot, cases }: PlannedEvaluation,
  module: ProtocolModule,
  { speechServers }: Pick<Equipment, 'speechServers'>,
): string | undefined {
  const { language, definition, personality } = snapshot;
  const spoken = callerLanguages(personality.voice?.provider ?? DEFAULT_PROVIDER, speechServers);
  const rows = hasVariableKinds(definition) ? cases.map(({ variables }) => variables) : [null];
  for (const row of rows) {
    const reason = misfitOf(withVariables(definition, row), language ?? DEFAULT_LANGUAGE, module, spoken);
    if (reason !== undefined) return reason;
  }
  return undefined;
}

function modelMisfit(
  { snapshot: { definition } }: PlannedEvaluation,
  { hasModel }: Pick<Equipment, 'hasModel'>,
): string | undefined {
  if (hasModel) return undefined;
  const without = (purpose: string) => `no language model is configured to ${purpose} (LLM_BASE_URL, LLM_MODEL)`;
  if (definition.script.length === 0) return `it has no script, and ${without('play its caller')}`;
  const judged = [...definition.criteria, ...definition.checks.filter((check) => criteriaIn([check]).length > 0)];
  const isJudged = judged.some(({ required }) => required);
  return isJudged ? `it has a required criterion, and ${without('judge it')}` : undefined;
}
