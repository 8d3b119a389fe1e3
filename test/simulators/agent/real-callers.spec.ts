import { createReferenceAgent } from './agent.js';
import type { FaultName } from './faults.js';
import { realCall } from './real-callers.js';

describe('the call of a real caller with the reference agent', () => {
  const toolsOf = async (fault?: FaultName) => {
    const { tools = [], lines, reason } = await realCall(createReferenceAgent(fault && { fault }), 'booking');
    expect(lines.map(({ startMs }) => startMs)).toEqual(lines.map(({ startMs }) => startMs).sort((a, b) => a - b));
    return [reason, ...tools.map(({ name }) => name)];
  };

  it('books a table, or shows the fault of the agent', async () => {
    expect(await toolsOf()).toEqual(['agent_hangup', 'check_availability', 'book_table', 'end_call']);
    expect(await toolsOf('skips-tool')).toEqual(['agent_hangup', 'check_availability', 'end_call']);
    expect(await toolsOf('loops')).toEqual(['user_hangup']);
  });
});
