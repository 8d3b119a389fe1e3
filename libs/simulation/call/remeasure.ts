import type { EvaluationDefinition } from '../../evaluation-definition/index.js';
import type { Personality, Scenario } from '../callers/persona.js';
import type { VoiceFacts } from '../voice/facts/facts.js';
import { hearAgain, type RecordedLane } from '../voice/hearing/hear-again.js';
import { type Attempt, afterAttempt } from './attempts.js';
import { type CallResult, executeCall } from './call.js';

export interface RemeasureOptions {
  readonly definition: EvaluationDefinition;
  readonly scenario: Scenario;
  readonly personality: Personality;
  /** The result of the attempt that counts. */
  readonly recorded: CallResult;
  /** From `readFacts`. */
  readonly facts: VoiceFacts;
  /** The agent's channel of the recording. */
  readonly lane: RecordedLane;
  /** The attempts before it. */
  readonly earlier?: readonly Attempt[];
}

/**
 * The result of a recorded voice call by today's definitions: timeline, measures, checks and verdict are computed again, and
 * the agent's sounds are heard again in the recording. What the caller did, what the platform reported and the verdicts on
 * criteria are those of the call; no model is asked.
 */
export async function remeasure(options: RemeasureOptions): Promise<CallResult> {
  const { definition, scenario, personality, recorded, facts, lane, earlier = [] } = options;
  if (recorded.invalidity?.code === 'not_applicable') return recorded;
  const { versions, voice, exchange, unusableAnswers } = recorded;
  const result = await executeCall({
    definition,
    scenario,
    personality,
    judged: recorded,
    transport: {
      name: versions.transport,
      clock: voice?.voice.clock ?? 'heard',
      facts: hearAgain(facts, lane),
      exchange,
    },
  });
  const { model, callerPrompt, judgePrompt, speech } = versions;
  const again = {
    ...result,
    unusableAnswers,
    versions: { ...result.versions, model, callerPrompt, judgePrompt, ...(speech !== undefined && { speech }) },
  };
  const after = afterAttempt(again, earlier);
  return after.next === 'end' ? after.result : again;
}
