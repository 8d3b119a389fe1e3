import type { ToolResult } from '../../../../evaluation-definition/index.js';
import {
  type Act,
  calls,
  ends,
  says,
  speechStarted,
  updated,
} from '../../../../../test/simulators/openai-realtime/double/agent.js';
import { BARGES_IN, codesOf, execute, GREETING, spoken, WAITS } from './testing/calls.js';
import { event } from '../../../../../test/simulators/openai-realtime/double/events.js';

/** One piece of audio of an item, in any version of the protocol. */
const delta = (item: number, ms: number, type = 'response.output_audio.delta'): string => {
  const [, , audio] = says(item, '', ms, ms);
  return JSON.stringify({ ...(JSON.parse(audio!) as object), type });
};
const error = (code: string | null, type = 'invalid_request_error'): string =>
  event({ type: 'error', error: { type, code, message: 'It went wrong' } });

describe('a call over Realtime', () => {
  it('asks for mu-law and the greeting, and streams the caller from then on', async () => {
    const { agent, outcome, measures } = await execute({ onCreate: [[{ send: says(1, GREETING, 2_000) }]] });
    expect(outcome).toBe('passed');
    const format = { type: 'audio/pcmu' };
    expect(agent.received.slice(0, 2)).toMatchObject([
      {
        type: 'session.update',
        session: { type: 'realtime', output_modalities: ['audio'], audio: { input: { format }, output: { format } } },
      },
      { type: 'response.create' },
    ]);
    expect(Math.abs(agent.heardBytes - 8 * measures.durationMs)).toBeLessThanOrEqual(2 * 160);
  });

  it('merges the settings of the session into the first update, whose formats the line decides', async () => {
    const session = {
      instructions: 'You book tables.',
      audio: { input: { turn_detection: { type: 'semantic_vad' } }, output: { voice: 'marin' } },
    };
    const { agent } = await execute({}, WAITS, { session });
    expect(agent.received[0]).toMatchObject({
      session: {
        type: 'realtime',
        instructions: 'You book tables.',
        audio: {
          input: { format: { type: 'audio/pcmu' }, turn_detection: { type: 'semantic_vad' } },
          output: { format: { type: 'audio/pcmu' }, voice: 'marin' },
        },
      },
    });
  });

  it('truncates at what was heard, and plays nothing more of what was dropped', async () => {
    const late: Act = { afterMs: 1_500, send: [speechStarted(), ends(1, 'cancelled')] };
    const after: Act = { afterMs: 1_700, send: [delta(1, 900)] };
    const result = await execute(
      { onCreate: [[{ send: says(1, GREETING, 4_000).slice(0, -1) }, late, after]] },
      BARGES_IN,
    );
    const [cut, ...more] = result.agent.of('conversation.item.truncate');
    expect(more).toEqual([]);
    expect(cut).toMatchObject({ item_id: 'item_1', content_index: 0, audio_end_ms: 1_500 });
    const speech = spoken(result);
    expect(speech).toMatchObject([{ text: expect.stringMatching(/^Good evening,/) as string, interrupted: true }]);
    expect(speech[0]!.text.length).toBeLessThan(GREETING.length / 2);
    expect(result.voice!.lanes.agent.at(-1)!.endMs).toBeLessThanOrEqual(1_520);
    expect(result.voice!.voice.bargeIns).toMatchObject([{ yielded: true, heardUntilMs: 1_500 }]);
    // Of the line that the caller repeats because nothing answers it.
    expect(codesOf(result)).toEqual(['caller_not_detected']);
  });

  it('drops a response whose audio begins only after the interruption', async () => {
    const [created, ...rest] = says(2, 'Of course.', 600);
    const second: Act = { afterMs: 1_480, send: [created!] };
    const starts: Act = { afterMs: 1_500, send: [speechStarted(), ...rest.slice(0, -1), ends(2, 'cancelled')] };
    const result = await execute({ onCreate: [[{ send: says(1, GREETING, 4_000) }, second, starts]] }, BARGES_IN);
    expect(spoken(result)).toHaveLength(1);
    expect(result.voice!.lanes.agent.at(-1)!.endMs).toBeLessThanOrEqual(1_520);
  });

  it('truncates every item that was not played to its end, once, and never beyond what it received', async () => {
    const both = [...says(1, 'Good evening.', 1_200), ...says(2, 'How can I help you?', 2_000)];
    const again: Act = { afterMs: 1_800, send: [speechStarted()] };
    const acts = [{ send: both }, { afterMs: 1_000, send: [speechStarted()] }, again];
    const result = await execute({ onCreate: [acts] }, BARGES_IN);
    expect(result.agent.of('conversation.item.truncate')).toMatchObject([
      { item_id: 'item_1', audio_end_ms: 1_000 },
      { item_id: 'item_2', audio_end_ms: 0 },
    ]);
  });

  it('drops nothing if everything was played, or if the session does not let the caller interrupt', async () => {
    const played = await execute({
      onCreate: [[{ send: says(1, 'Good evening.', 600) }, { afterMs: 900, send: [speechStarted()] }]],
    });
    expect(played.agent.of('conversation.item.truncate')).toEqual([]);
    const session = { audio: { input: { turn_detection: { type: 'server_vad', interrupt_response: false } } } };
    const result = await execute({
      onUpdate: [{ send: [updated(session)] }],
      onCreate: [[{ send: says(1, GREETING, 2_000) }, { afterMs: 500, send: [speechStarted()] }]],
    });
    expect(result.agent.of('conversation.item.truncate')).toEqual([]);
    expect(result.voice!.lanes.agent.at(-1)!.endMs).toBeGreaterThan(1_950);
  });

  it.each<[string, ToolResult, string]>([
    ['an error', { tool: 'find_table', error: 'Out of order' }, '{"error":"Out of order"}'],
    ['a late result', { tool: 'find_table', results: [7], delayMs: 600 }, '7'],
    ['the same value', { tool: 'find_table', same: { people: 'four' }, result: 7 }, '7'],
  ])('sends %s of a tool', async (_name, entry, output) => {
    const send = [calls(1, 'c1', 'find_table', '{"people":4}'), ends(1)];
    const onCreate = [[{ send }], [{ send: says(2, 'It is booked.', 600) }]];
    const result = await execute({ onCreate }, { ...WAITS, toolResults: [entry] });
    const [sent] = result.agent.of('conversation.item.create');
    expect(sent).toMatchObject({ item: { call_id: 'c1', output } });
    expect(sent!.atMs >= (entry.delayMs ?? 0)).toBe(true);
    expect(spoken(result)).toMatchObject([{ text: 'It is booked.' }]);
  });

  it.each<[string, ToolResult, string]>([
    ['fails an agent that is silent when a tool never answers', { tool: 'find_table', noAnswer: true }, 'failed'],
    ['is an error when no result fits', { tool: 'find_table', same: { people: 5 }, result: 7 }, 'error'],
  ])('%s', async (_name, entry, outcome) => {
    const send = [calls(1, 'c1', 'find_table', '{"people":4}'), ends(1)];
    const definition = { script: [{ say: 'A table for four.' }], toolResults: [entry] };
    const result = await execute({ onCreate: [[{ send }]] }, definition);
    expect(result.outcome).toBe(outcome);
    expect(result.agent.of('conversation.item.create')).toEqual([]);
  });

  it('sends the results of all tools of a response after its end, and then asks the agent to go on, once', async () => {
    const first = says(1, 'One moment.', 400).slice(0, -1);
    const tools = [calls(1, 'c1', 'find_table', '{"people":4}'), calls(1, 'c2', 'find_dish')];
    const result = await execute(
      {
        onCreate: [
          [{ send: [...first, ...tools] }, { afterMs: 500, send: [ends(1)] }],
          [{ send: says(2, 'By the window?', 600) }],
        ],
      },
      { ...WAITS, toolResults: [{ tool: 'find_table', result: { table: 7 } }] },
    );
    const [, , ...sent] = result.agent.received;
    expect(sent).toMatchObject([
      {
        type: 'conversation.item.create',
        item: { type: 'function_call_output', call_id: 'c1', output: '{"table":7}' },
      },
      { type: 'conversation.item.create', item: { call_id: 'c2', output: '{"status":"ok"}' } },
      { type: 'response.create' },
    ]);
    expect(sent.every(({ atMs }) => atMs >= 500)).toBe(true);
    expect(spoken(result)).toMatchObject([{ text: 'One moment. By the window?' }]);
  });

  it('hangs up when the goodbye was played, if the agent called the tool for it', async () => {
    const goodbye = [...says(1, 'Goodbye.', 900).slice(0, -1), calls(1, 'c1', 'end_call'), ends(1)];
    const result = await execute({ onCreate: [[{ send: goodbye }]] });
    expect(result.end).toMatchObject({ by: 'agent', code: 'agent_hung_up' });
    expect(Math.abs(result.measures.durationMs - 920)).toBeLessThanOrEqual(30);
  });

  it('reads the names of the events before general availability', async () => {
    const result = await execute({
      onUpdate: [{ send: [updated({ audio: { output: { format: { type: 'audio/pcmu' } } } })] }],
      onCreate: [
        [
          {
            send: [
              delta(1, 800, 'response.audio.delta'),
              JSON.stringify({
                type: 'response.audio_transcript.done',
                item_id: 'item_1',
                transcript: 'Good evening.',
              }),
              ends(1),
            ],
          },
        ],
      ],
    });
    expect(spoken(result)).toMatchObject([{ text: 'Good evening.', words: 'known' }]);
  });

  it('converts another format than the one that it asked for, with a finding', async () => {
    const format = { type: 'audio/pcma' };
    const result = await execute({
      onUpdate: [{ send: [updated({ audio: { input: { format }, output: { format } } })] }],
    });
    expect(codesOf(result)).toEqual(['other_format']);
    expect(result.voice!.wireFindings[0]!.detail).toContain('alaw at 8000 Hz (2 times)');
  });

  it('goes on after an error, and says nothing of one that loses nothing', async () => {
    const result = await execute({
      onCreate: [
        [
          {
            send: [error('invalid_value'), error('conversation_already_has_active_response'), ...says(1, 'Yes?', 500)],
          },
        ],
      ],
    });
    expect(codesOf(result)).toEqual(['error_event']);
    expect(result.voice!.wireFindings[0]!.detail).toBe('The platform said: invalid_value: It went wrong');
    expect(spoken(result)).toHaveLength(1);
  });

  it.each([
    [{ onUpdate: [{ send: [error('invalid_value')] }] }, 'platform_refused', 'infrastructure'],
    [{ onUpdate: [{ send: [error(null, 'server_error')] }] }, 'agent_error', 'infrastructure'],
    [{ onCreate: [[{ send: [error('insufficient_quota')] }]] }, 'platform_refused', 'infrastructure'],
    [{ onCreate: [[{ send: [error('rate_limit_exceeded')] }]] }, 'rate_limited', 'infrastructure'],
  ] as const)('ends when the platform refuses to go on: %j', async (script, code, fault) => {
    const { outcome, failure } = await execute(script);
    expect({ outcome, code: failure?.code, fault: failure?.fault }).toEqual({ outcome: 'error', code, fault });
    expect(failure?.message).toContain('It went wrong');
  });

  it('reports a limit of which nothing is left, and a response that fails', async () => {
    const limits = [{ name: 'tokens' as const, limit: 40_000, remaining: 0, reset_seconds: 12 }];
    const failed = { type: 'failed' as const, error: { type: 'server_error', code: 'server_error' } };
    const result = await execute({
      onCreate: [
        [
          {
            send: [
              event({ type: 'rate_limits.updated', rate_limits: limits }),
              event({ type: 'response.done', response: { id: 'r', status: 'failed', status_details: failed } }),
            ],
          },
        ],
      ],
    });
    expect(result.voice!.wireFindings).toMatchObject([
      { code: 'rate_limit_reached', severity: 'warning', detail: 'tokens, limit 40000, resets in 12 s' },
      { code: 'response_incomplete', severity: 'error' },
    ]);
  });

  it('logs length and hash of Realtime audio instead of the audio', async () => {
    const { wire } = await execute({ onCreate: [[{ send: says(1, 'Yes?', 500) }]] });
    const longest = Math.max(...wire.map(({ length }) => length));
    expect(wire.some((line) => line.includes('input_audio_buffer.append') && line.includes('sha256'))).toBe(true);
    expect(longest).toBeLessThan(1_000);
  });
});
