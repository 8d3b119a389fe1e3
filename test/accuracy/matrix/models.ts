import { createHash } from 'node:crypto';
import { normalise } from '../../../libs/evaluation-definition/index.js';
import { untilEnd } from '../../simulators/agent/testing/accuracy.js';
import { type CallResult, type LanguageModel, VirtualClock } from '../../../libs/simulation/index.js';
import { BOOKING_CRITERION, bookingAgent, wellBehavedModel } from '../../simulators/agent/testing/booking-agent.js';
import { PERSONALITY, SCENARIO } from '../../../libs/simulation/testing/calls.js';
import { type Answering, MISBEHAVING_MODELS, misbehaving } from '../../simulators/model/misbehaving-models.js';
import { stubModel, verdict } from '../../simulators/model/llm-stub.js';
import { TestServers } from '../../simulators/servers.js';
import { mapLimited } from '../limited.js';
import type { Row } from './row.js';

/** Only models that do not answer take this long. */
const MODEL_TIMEOUT_MS = 1_000;
const CALLS_AT_ONCE = 8;

interface ModelCase {
  readonly name: string;
  readonly healthy: readonly CallResult['outcome'][];
  readonly faulty: readonly CallResult['outcome'][];
  readonly start: () => Answering;
}

/** A model that behaves, to show that the calls are fair. */
const FAIR: ModelCase = {
  name: 'model: behaves well',
  healthy: ['passed'],
  faulty: ['failed'],
  start: () => wellBehavedModel,
};

/** Rows of the misbehaving models, each with a healthy and with a faulty agent. The model is reached over sockets. */
export function modelRows(): { readonly rows: readonly Row[]; close(): Promise<void> } {
  const servers = new TestServers();
  const cases: readonly ModelCase[] = [
    FAIR,
    ...MISBEHAVING_MODELS.map((model) => ({
      name: `${model.task}: ${model.name}`,
      healthy: model.healthy,
      faulty: model.faulty,
      start: () => misbehaving(model, wellBehavedModel),
    })),
  ];
  const play = async ({ start }: ModelCase, isFaulty: boolean) => {
    const { model } = await stubModel(servers, start(), { timeoutMs: MODEL_TIMEOUT_MS });
    return [await callWith(model, isFaulty, BOOKING_CRITERION)];
  };
  const rows = cases.flatMap((one): Row[] => [
    {
      ...{ group: 'model', name: one.name, description: 'with a healthy agent', allowed: one.healthy },
      execute: () => play(one, false),
    },
    {
      ...{ group: 'model', name: one.name, description: 'with a faulty agent', allowed: one.faulty },
      execute: () => play(one, true),
    },
  ]);
  return { rows, close: () => servers.close() };
}

const callWith = (model: LanguageModel, isFaulty: boolean, criterion: string): Promise<CallResult> =>
  untilEnd({
    definition: normalise({ criteria: [{ text: criterion }], maxTurns: 12 }),
    scenario: SCENARIO,
    personality: PERSONALITY,
    transport: bookingAgent(isFaulty),
    model,
    clock: new VirtualClock(),
  });

/** Part of each text that decides whether the judge errs, so that the measured shares are the same in every run. */
const SEED = 1;
/** Long, because on a busy machine a retry after a timeout would be an answer of its own. */
const ERRING_TIMEOUT_MS = 60_000;

/** Share of wrong verdicts of a judge that errs independently in a share of its answers; by agent. */
export async function erringJudge(calls: number, errorRate: number): Promise<{ healthy: number; faulty: number }> {
  const servers = new TestServers();
  const answers = new Map<string, number>();
  const answer: Answering = (asked) => {
    if (!asked.statement.startsWith(BOOKING_CRITERION)) return wellBehavedModel(asked);
    const number = (answers.get(asked.statement) ?? 0) + 1;
    answers.set(asked.statement, number);
    const { met } = wellBehavedModel(asked) as { met: boolean };
    const errs = chance(`${SEED} ${asked.statement.slice(BOOKING_CRITERION.length)} ${number}`) < errorRate;
    return verdict(asked, errs ? !met : met);
  };
  const { model } = await stubModel(servers, answer, { timeoutMs: ERRING_TIMEOUT_MS });
  const wrongShare = async (isFaulty: boolean, right: CallResult['outcome']) => {
    const indexes = Array.from({ length: calls }, (_, index) => index);
    const results = await mapLimited(indexes, CALLS_AT_ONCE, (index) =>
      // The number makes the chance of each call independent of the others.
      callWith(model, isFaulty, `${BOOKING_CRITERION} (${isFaulty ? 'faulty' : 'healthy'} ${index})`),
    );
    return results.filter(({ outcome }) => outcome !== right).length / calls;
  };
  try {
    return { healthy: await wrongShare(false, 'passed'), faulty: await wrongShare(true, 'failed') };
  } finally {
    await servers.close();
  }
}

/** A number from 0 to 1 that depends on the text alone, so that a measurement can be repeated. */
const chance = (text: string): number => createHash('sha256').update(text).digest().readUInt32BE() / 2 ** 32;
