import type { AgentAction, ReportedToolCall } from '../../../../libs/simulation/index.js';
import { delta, event, streamText, type TestServers } from '../../servers.js';
import type { PreparedVoice } from '../voice/prepare.js';
import type { Dialogue, SpokenAnswer } from '../voice/spoken-dialogue.js';
import { scriptedAgent } from '../voice/testing/scripted-agent.js';

/** What a tool returned: any JSON. */
export type Returned = any;

/** An agent that goes on by what its tools return, over text and by voice. */
export interface ToolUser {
  /** All that it may say. */
  readonly sentences: readonly string[];
  /** What it does in a turn, from 0, after what its tools have returned in it; undefined: it says nothing more. */
  act(turn: number, returned: readonly Returned[]): AgentAction | undefined;
  /** Runs its tools, if it does so itself. */
  readonly run?: (tool: string, args: object) => Returned;
}

/** What its backend reports, in order. */
export type Reports = Omit<ReportedToolCall, 'agoMs'>[];

/** Runs the tools that it runs itself. @returns what it does after that */
function actOf({ act, run }: ToolUser, turn: number, returned: Returned[], reports: Reports): AgentAction | undefined {
  let action = act(turn, returned);
  while (run && action && 'tool' in action) {
    const { tool, arguments: args = {} } = action;
    const result = run(tool, args);
    reports.push({ name: tool, arguments: args, result });
    returned.push(result);
    action = act(turn, returned);
  }
  return action;
}

interface Message {
  readonly role: string;
  readonly content: string | null;
}

/** The agent over chat completions: it waits for the results of tools that it does not run itself. */
export const startToolUser = (servers: TestServers, user: ToolUser, reports: Reports = []): Promise<string> =>
  servers.http((response, { messages }: { messages: readonly Message[] }) => {
    const asked = messages.findLastIndex(({ role }) => role === 'user');
    const turn = messages.filter(({ role }) => role === 'user').length - 1;
    const returned = messages
      .slice(asked + 1)
      .flatMap(({ role, content }) => (role === 'tool' ? [parsed(content)] : []));
    const action = actOf(user, turn, returned, reports);
    if (!action || 'say' in action) return streamText(response, action?.say ?? '');
    const call = { name: action.tool, arguments: JSON.stringify(action.arguments ?? {}) };
    const id = `call_${turn}_${returned.length}`;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(delta({ tool_calls: [{ index: 0, id, type: 'function', function: call }] }));
    response.end(delta({}, 'tool_calls') + event('[DONE]'));
  });

/** The agent by voice; it takes every sound for a turn of the caller. */
export async function spokenToolUser(
  speech: Parameters<typeof scriptedAgent>[0],
  user: ToolUser,
  reports: Reports = [],
): Promise<PreparedVoice> {
  const { voice, recogniser } = await scriptedAgent(speech, { answers: user.sentences.map((say) => [{ say }]) });
  return { voice, recogniser, dialogue: () => new ToolDialogue(user, reports) };
}

/** As long as it waits for a result, it cannot speak. */
class ToolDialogue implements Dialogue {
  private turn = -1;
  private returned: Returned[] = [];
  private isWaiting = false;

  constructor(
    private readonly user: ToolUser,
    private readonly reports: Reports,
  ) {}

  answer(said?: string): SpokenAnswer {
    if (said !== undefined && this.isWaiting) return { text: '' };
    if (said !== undefined) [this.turn, this.returned] = [this.turn + 1, []];
    const action = this.turn < 0 ? undefined : actOf(this.user, this.turn, this.returned, this.reports);
    if (!action || 'say' in action) return { text: action?.say ?? '' };
    this.isWaiting = true;
    const id = `call_${this.turn}_${this.returned.length}`;
    return { text: '', calls: [{ id, name: action.tool, arguments: JSON.stringify(action.arguments ?? {}) }] };
  }

  result(_id: string, content: string): void {
    this.isWaiting = false;
    this.returned.push(parsed(content));
  }

  press(): SpokenAnswer {
    return { text: '' };
  }
}

function parsed(content: string | null): Returned {
  try {
    return JSON.parse(content ?? '');
  } catch {
    return content;
  }
}
