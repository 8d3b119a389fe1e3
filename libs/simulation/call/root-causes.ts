import type { CallView } from '../timeline/call-view.js';
import { truncate } from '../timeline/text.js';
import type { FindingEntry, TimelineEntry } from '../timeline/timeline.js';

/** How the agent reacts to a caller that speaks over it: judged by checks, and no cause of anything else. */
const REACTIONS: ReadonlySet<string> = new Set(['no_clear_on_barge_in']);
const MAX_NAMED = 2;

/**
 * Whether nothing that follows can be taken as the agent meant it: the caller heard something else than it meant, or the
 * platform ignored its messages.
 */
export const isRootCause = (entry: TimelineEntry): entry is FindingEntry =>
  entry.type === 'finding' && entry.severity === 'error' && !REACTIONS.has(entry.code);

/** What has to be said of a call before its consequences, as sentences without full stop. */
export function rootCauses(view: CallView): string[] {
  const errors = view.entries.filter(isRootCause);
  const named = errors
    .slice(0, MAX_NAMED)
    .map(({ code, detail }) => `Protocol error ${code}: ${truncate(detail, 200)}`);
  const others = errors.slice(MAX_NAMED).map(({ code }) => code);
  if (others.length > 0) named.push(`Further protocol errors: ${others.join(', ')}`);
  if (view.hungUpInSpeech) named.push('The agent hung up in mid-sentence');
  if (view.end?.code === 'agent_repeats') named.push(view.end.reason);
  return named;
}
