import { type CallResult, failure, type TimelineEntry, unstartedCall } from '../../../libs/simulation/index.js';
import { attemptResultJson, MAX_RESULT } from './attempt-result.js';
import type { AttemptResult } from '../runs/call-attempt.entity.js';

const RESULT = unstartedCall('chat-completions', failure('agent_status', 'HTTP 500'));
const stored = (result: CallResult): AttemptResult => JSON.parse(attemptResultJson(result)) as AttemptResult;
const span = { start: 0, end: 1, turn: 1 };
const speech = (text: string): TimelineEntry => ({ type: 'speech', speaker: 'agent', text, ...span });

describe('attemptResultJson', () => {
  it('stores a result of ordinary size unchanged', () => {
    const result = { ...RESULT, timeline: [speech('x'.repeat(20_000)), ...RESULT.timeline] };
    expect(stored(result)).toEqual(result);
  });

  it.each<[string, TimelineEntry[]]>([
    ['one huge answer', [speech('x'.repeat(5_000_000))]],
    ['many answers', Array.from({ length: 10_000 }, () => speech('\u0001"'.repeat(2_000)))],
    ['huge arguments', [{ type: 'tool_call', name: 'book', arguments: { note: 'x'.repeat(5_000_000) }, ...span }]],
  ])('shortens a result with %s and keeps the beginning of the call', (_what, timeline) => {
    const json = attemptResultJson({ ...RESULT, timeline });
    expect(json.length).toBeLessThanOrEqual(MAX_RESULT);
    const found = JSON.parse(json) as AttemptResult;
    expect(found).toMatchObject({ isShortened: true, outcome: 'error', reason: RESULT.reason, end: RESULT.end });
    expect(found.timeline.length).toBeGreaterThan(0);
    expect(found.timeline[0]).toMatchObject({ type: timeline[0]!.type, ...span });
  });

  it('omits everything that is large outside of the timeline', () => {
    const checks = [{ detail: 'x'.repeat(2 * MAX_RESULT) }] as unknown as CallResult['checks'];
    const found = stored({ ...RESULT, checks });
    expect(found).toMatchObject({ isShortened: true, checks: [], failure: RESULT.failure });
  });
});
