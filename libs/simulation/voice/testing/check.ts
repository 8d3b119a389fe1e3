import type { CheckSpec } from '../../../evaluation-definition/index.js';
import { evaluateChecks } from '../../checks/evaluate-checks.js';
import { CallView } from '../../timeline/call-view.js';
import type { TimelineEntry } from '../../timeline/timeline.js';
import { voiceChecks } from '../checks/voice-checks.js';
import type { VoiceFacts } from '../facts/facts.js';
import { heardTimes, voiceMeasures } from '../measures/index.js';
import { factsOf } from './facts.js';

/** The entries that such facts have on a timeline, as far as checks look at them. */
function entriesOf({ caller, agent, wireFindings, platformEvents, end }: VoiceFacts): TimelineEntry[] {
  const entries: TimelineEntry[] = [
    ...caller.map((act): TimelineEntry => {
      const span = { start: act.startMs, end: act.endMs, turn: act.turn };
      if (act.type === 'say') return { type: 'speech', speaker: 'caller', text: act.text, ...span };
      const kind = act.type === 'press' ? 'keys' : act.type;
      const name = act.type === 'press' ? act.keys : act.name;
      return { type: 'sound', speaker: 'caller', kind, name, possible: true, ...span };
    }),
    ...agent.map(({ startMs, endMs, turn }): TimelineEntry => ({
      type: 'speech',
      speaker: 'agent',
      text: '',
      words: 'unknown',
      start: startMs,
      end: endMs,
      turn,
    })),
    ...wireFindings.map(({ code, severity, detail, atMs }): TimelineEntry => ({
      type: 'finding',
      code,
      severity,
      detail,
      start: atMs ?? 0,
      end: atMs ?? 0,
      turn: 0,
    })),
    ...platformEvents.flatMap(({ type, detail, atMs }): TimelineEntry[] =>
      type === 'transfer' ? [{ type: 'platform', event: type, detail, start: atMs, end: atMs, turn: 0 }] : [],
    ),
    { type: 'end', by: end.by, code: end.code, reason: end.reason, start: end.atMs, end: end.atMs, turn: 1 },
  ];
  return entries.sort((a, b) => a.start - b.start);
}

/** What a check finds on a voice call of such facts. */
export async function check(
  spec: CheckSpec,
  { unknownTools, ...given }: Partial<VoiceFacts>,
  tools: readonly TimelineEntry[] = [],
) {
  const facts = factsOf(given);
  const entries = [...entriesOf(facts), ...tools].sort((a, b) => a.start - b.start);
  const view = CallView.of(entries, [], heardTimes(facts, entries), unknownTools);
  const checks = voiceChecks({ facts, voice: voiceMeasures(facts) });
  const [result] = await evaluateChecks([{ ...spec, weight: 1, required: true }], view, async () => {}, checks);
  return result!;
}

export const endedAt = (atMs: number): Pick<VoiceFacts, 'end'> => ({
  end: { by: 'agent', code: 'agent_hung_up', reason: 'The agent hung up', atMs },
});
