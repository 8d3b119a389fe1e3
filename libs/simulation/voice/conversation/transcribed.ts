import type { ConversationResult } from '../../conversation/conversation.js';
import type { CallExchange } from '../../other-side/call-exchange.js';
import type { Timeline, TimelineEntry } from '../../timeline/timeline.js';
import { toolEntryOf } from './voice-timeline.js';
import { endOf, recordedAs, type ReportedCall, toolFact, transferOf, unknownToolsOf } from '../imported/reported.js';
import type { TranscriptEntry } from '../imported/transcript.js';

/** A call that was recorded elsewhere, of which there is no sound. */
export interface TranscribedCall {
  readonly name: string;
  /** What both sides said. */
  readonly transcript: readonly TranscriptEntry[];
  readonly reported: ReportedCall;
  readonly exchange: CallExchange;
}

/** Records the words and tool calls of a call on the timeline. */
export function transcribedConversation(
  { transcript, reported, exchange }: TranscribedCall,
  timeline: Timeline,
): ConversationResult {
  const said = transcript.filter(({ text }) => text.trim() !== '').sort((a, b) => a.startMs - b.startMs);
  const tools = (reported.toolCalls ?? []).toSorted((a, b) => a.startMs - b.startMs);
  const endMs = Math.max(0, ...transcript.map((entry) => entry.endMs), ...tools.map(({ startMs }) => startMs));
  let turn = 0;
  let last: TranscriptEntry | undefined;
  const answered = new Set<number>();
  const place = () => timeline.entries.length;
  const called = (until: number) => {
    while (tools[0] && tools[0].startMs < until) {
      const tool = tools.shift()!;
      const beside = last?.speaker === 'agent' && last.startMs === tool.startMs && { isBesideWords: true as const };
      timeline.observed({ ...toolEntryOf(toolFact(tool), turn), ...beside }, place());
    }
  };
  for (const entry of said) {
    called(entry.startMs);
    const { speaker, text, startMs, endMs: end } = entry;
    if (speaker === 'caller' && last?.speaker !== 'caller') turn++;
    if (speaker === 'agent') answered.add(turn);
    timeline.observed({ type: 'speech', speaker, text: text.trim(), start: startMs, end, turn }, place());
    last = entry;
  }
  called(Infinity);
  for (const { atMs, detail } of transferOf(reported.endedReason, endMs)) {
    const entry: TimelineEntry = { type: 'platform', event: 'transfer', detail, start: atMs, end: atMs, turn };
    timeline.observed(entry, place());
  }
  const { by, code, reason } = endOf(reported.endedReason, 'transcript');
  const end = timeline.ended(by, code, reason, endMs, recordedAs('transcript', reported.isProduction));
  return {
    ...{ stalls: [], end, failure: undefined, wasAgentActing: false, answeredTurns: answered.size, exchange },
    unknownTools: unknownToolsOf(reported, 'transcript'),
  };
}
