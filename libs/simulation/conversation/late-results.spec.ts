import { inputViolations, normalise } from '../../evaluation-definition/index.js';
import { rejudge } from '../call/rejudge.js';
import { agentSaying, call, SCENARIO } from '../testing/calls.js';
import { AgentReports } from '../voice/call/agent-reports.js';
import type { VoiceCallPlan } from '../voice/facts/plan.js';
import { stubModel, verdict } from '../../../test/simulators/model/llm-stub.js';
import { TestServers } from '../../../test/simulators/servers.js';
import type { Transport } from './transport.js';

const servers = new TestServers();
afterEach(() => servers.close());

/** An agent that waits for the result of a tool, and never speaks. */
const waiting = (delayMs: number): Transport => ({
  name: 'waiting',
  connect: ({ clock, emit }) => ({
    agentSpeaksFirst: false,
    say: () => {
      const at = clock.now();
      emit({ type: 'tool_call', at, endedAt: at, name: 'find_table', arguments: {}, delayMs });
      return Promise.resolve({ start: at, end: at });
    },
    hangUp: () => undefined,
  }),
});

describe('the result of a tool that comes late', () => {
  const talk = (delayMs: number) =>
    call({ script: [{ say: 'A table, please.' }], maxDurationSeconds: 20 }, { transport: waiting(delayMs) });

  it('is not the fault of the agent when the call reaches its maximum duration before it', async () => {
    expect(await talk(30_000)).toMatchObject({
      outcome: 'error',
      failure: { code: 'tool_result_missing', message: expect.stringContaining('that of find_table (delayMs)') },
    });
  });

  it('leaves the agent the time after it', async () => {
    expect(await talk(15_000)).toMatchObject({ end: { code: 'max_duration' }, failure: null });
    expect(await talk(1_000)).toMatchObject({ failure: { code: 'timeout' } });
  });

  it('is not the fault of the agent on a voice call, either', () => {
    const toolResults = [{ tool: 'find_table', result: 1, delayMs: 5_000 }];
    const reports = new AgentReports({ toolResults } as unknown as VoiceCallPlan);
    reports.callTool(0, { id: 'a', name: 'find_table', json: '{}' }, true);
    reports.answerTools(0, () => undefined);
    expect(reports.lateAt({ code: 'max_duration' })).toMatchObject({ code: 'tool_result_missing' });
    expect(reports.lateAt({ code: 'script_over' })).toBeUndefined();
    reports.answerTools(5_000, () => undefined);
    expect(reports.lateAt({ code: 'max_duration' })).toBeUndefined();
  });

  it('is refused if no call lasts so long', () => {
    const toolResults = [{ tool: 'find_table', result: 1, delayMs: 20_000 }];
    expect(inputViolations('change', { maxDurationSeconds: 20, toolResults })).toEqual([
      'toolResults[0].delayMs must be less than maxDurationSeconds (20): the call would end before the result comes',
    ]);
    expect(inputViolations('change', { maxDurationSeconds: 21, toolResults })).toEqual([]);
  });
});

describe('a result of a tool that may have been the wrong one', () => {
  it('fails no call that is judged again', async () => {
    const { model } = await stubModel(servers, (asked) => verdict(asked, false));
    const criteria = [{ text: 'The agent offers seven.' }];
    const script = [{ say: 'A table at seven, please.' }, { end: 'Over' }];
    const recorded = await call({ script, criteria }, { transport: agentSaying(['We are full.']), model });
    expect(recorded.outcome).toBe('failed');
    const [line, ...rest] = recorded.timeline;
    const asked = {
      type: 'tool_call',
      name: 'find_table',
      arguments: { time: '7 pm' },
      result: { times: [] },
    } as const;
    const timeline = [line!, { ...asked, start: 0, end: 0, turn: 1 }, ...rest];
    const toolResults = [
      { tool: 'find_table', arguments: { time: '19:00' }, result: { times: ['19:00'] } },
      { tool: 'find_table', result: { times: [] } },
    ];
    const again = await rejudge({
      definition: normalise({ script, criteria, toolResults }),
      scenario: SCENARIO,
      recorded: { ...recorded, timeline },
      model,
      signal: new AbortController().signal,
    });
    expect(again).toMatchObject({ outcome: 'error', failure: { code: 'tool_result_missing' } });
  });
});
