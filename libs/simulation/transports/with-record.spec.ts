import { factsOf } from '../voice/testing/facts.js';
import type { ProductionCall } from './modules/records.js';
import { withRecord } from './with-record.js';

const AT = 9_000;
const ARRIVALS = [{ arrivedMs: 980, playedFromMs: 1_000, playedToMs: 4_000 }];
const record = (more: Partial<ProductionCall> = {}): ProductionCall => ({
  ...{ id: 'call_1', startedAt: 0, endedAt: AT, said: [], toolCalls: [], endedReason: null },
  ...{ latencies: {}, recording: 'none', attemptId: null, callerNumber: null, ...more },
});
const ended = (code: 'agent_hung_up' | 'caller_done') =>
  factsOf({
    arrivals: ARRIVALS,
    end: { by: code === 'caller_done' ? 'caller' : 'agent', code, reason: 'BYE', atMs: AT },
  });

describe('A telephone call with the record of its platform', () => {
  it('has its tool calls, none after the end, and knows them', () => {
    const toolCalls = [
      { name: 'book', arguments: { people: 4 }, result: '{"table":7}', startMs: 2_000 },
      { name: 'note', arguments: null, result: null, startMs: 99_000 },
    ];
    const { toolCalls: found, unknownTools } = withRecord(ended('caller_done'), record({ toolCalls }), true);
    expect(found).toEqual([
      { atMs: 2_000, name: 'book', json: '{"people":4}', result: '{"table":7}', reported: 'given' },
      { atMs: AT, name: 'note', json: null, reported: 'given' },
    ]);
    expect(unknownTools).toBeUndefined();
  });

  it('that did not come in time has unknown tool calls, and says why', () => {
    const { unknownTools, toolCalls, end } = withRecord(ended('agent_hung_up'), 'the record did not come', true);
    expect(unknownTools).toBe("The agent's tool calls are not visible by telephone, and the record did not come");
    expect([toolCalls, end.code]).toEqual([[], 'agent_hung_up']);
  });

  // The reasons of docs.retellai.com/reliability/debug-call-disconnect, and of the typings of retell-sdk 5.66.1.
  it.each([
    ['agent_hangup', 'agent', 'agent_hung_up'],
    [null, 'agent', 'agent_hung_up'],
    ['user_hangup', 'agent', 'agent_hung_up'],
    ['inactivity', 'tester', 'platform_hung_up'],
    ['max_duration_reached', 'tester', 'max_duration'],
    ['call_transfer', 'tester', 'platform_hung_up'],
    ['voicemail_reached', 'agent', 'agent_hung_up'],
    ['voicemail', 'agent', 'agent_hung_up'],
    ['error_llm_websocket_open', 'tester', 'failure'],
    ['error_asr', 'tester', 'failure'],
    ['concurrency_limit_reached', 'tester', 'failure'],
    ['no_valid_payment', 'tester', 'failure'],
    ['manual_stopped', 'tester', 'failure'],
  ])('that the other side hung up because of %s was ended by the %s: %s', (endedReason, by, code) => {
    const { end, platformEvents, failure } = withRecord(ended('agent_hung_up'), record({ endedReason }), true);
    expect(end).toMatchObject({ by, code, atMs: AT });
    expect(failure?.fault).toBe(code === 'failure' ? 'infrastructure' : undefined);
    expect(platformEvents.map(({ type }) => type)).toEqual(endedReason === 'call_transfer' ? ['transfer'] : []);
  });

  it('that the caller hung up stays so, whatever the record says', () => {
    const facts = ended('caller_done');
    expect(withRecord(facts, record({ endedReason: 'error_unknown' }), true).end).toEqual(facts.end);
  });

  it('has the words of the record in its audio, unless a recogniser hears them', () => {
    const said = [
      { speaker: 'agent' as const, text: 'Good evening.', startMs: 1_100, endMs: 2_000 },
      { speaker: 'caller' as const, text: 'A table', startMs: 2_100, endMs: 2_400 },
      { speaker: 'agent' as const, text: 'For how many?', startMs: 3_000, endMs: 3_900 },
    ];
    const found = withRecord(ended('caller_done'), record({ said }), false);
    expect(found.said.map(({ text, item }) => [text, item])).toEqual([
      ['Good evening.', 1],
      ['For how many?', 2],
    ]);
    // Cut, and no piece arrives at another distance from when it is played.
    expect(found.arrivals.map(({ item }) => item)).toEqual([1, 2]);
    expect(new Set(found.arrivals.map(({ arrivedMs, playedFromMs }) => playedFromMs - arrivedMs))).toEqual(
      new Set([20]),
    );
    const heard = withRecord(ended('caller_done'), record({ said }), true);
    expect([heard.said, heard.arrivals]).toEqual([[], ARRIVALS]);
  });
});
