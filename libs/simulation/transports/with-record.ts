import { failure } from '../timeline/failure.js';
import { UNKNOWN_ENDS } from '../timeline/end-codes.js';
import { endOf, toolFact, transferOf } from '../voice/imported/reported.js';
import type { VoiceFacts } from '../voice/facts/facts.js';
import { saidFrom } from '../voice/imported/transcript.js';
import type { ProductionCall } from './modules/records.js';

/**
 * The facts of a telephone call with what the platform recorded of it: tool calls, words, and who ended it.
 * @param found or why there is none, as a clause @param isHeard whether a recogniser has the words
 */
export function withRecord(facts: VoiceFacts, found: ProductionCall | string, isHeard: boolean): VoiceFacts {
  if (typeof found === 'string') {
    return { ...facts, unknownTools: `The agent's tool calls are not visible by telephone, and ${found}` };
  }
  const { toolCalls, said, endedReason } = found;
  const { atMs } = facts.end;
  const isTransferred = facts.platformEvents.some(({ type }) => type === 'transfer');
  return {
    ...facts,
    toolCalls: (toolCalls ?? []).map(({ result, startMs, ...tool }) =>
      toolFact({ ...tool, startMs: Math.min(startMs, atMs), ...(result !== null && { result }) }),
    ),
    platformEvents: [...facts.platformEvents, ...(isTransferred ? [] : transferOf(endedReason ?? undefined, atMs))],
    ...endedBy(facts.end, endedReason),
    ...(!isHeard && said && saidFrom(said, facts.arrivals)),
  };
}

/** What the agent is set to hang up at. */
const OF_AGENT = /^(voicemail|(voicemail|ivr)_reached)$/;

/** A telephone shows only that the other side hung up. That a platform did for another reason is not the agent's failure. */
function endedBy(end: VoiceFacts['end'], reason: string | null): Pick<VoiceFacts, 'end' | 'failure'> {
  if (end.code !== 'agent_hung_up' || reason === null) return { end };
  const { by, code } = endOf(reason, 'recording');
  if (by !== 'tester' || OF_AGENT.test(reason)) return { end };
  const known = { ...end, by, code, reason: `The platform ended the call: ${reason}` };
  if (!UNKNOWN_ENDS.has(code)) return { end: known };
  return {
    end: { ...known, code: 'failure' },
    failure: failure('line_lost', `the platform ended the call: ${reason}`),
  };
}
