import { GREETING, START, type State, takeTurn } from './dialogue.js';
import { type Behaviour, BREAKDOWN_TURN } from './faults.js';
import { runTool, readToolResult, type ToolName, type ToolResult, type ToolUse } from './tools.js';

/** A chat-completion message, with the fields that the agent uses. */
export interface Message {
  readonly role: 'system' | 'developer' | 'user' | 'assistant' | 'tool';
  readonly content: string;
  /** Of a tool message: the tool call that it answers. */
  readonly toolCallId?: string;
}

/** A tool call within an answer. */
export interface AnswerToolCall {
  readonly id: string;
  readonly name: ToolName;
  /** JSON */
  readonly arguments: string;
}

/** The agent's complete answer. */
export interface Answer {
  /** Empty while the agent waits for the result of a hosted tool. */
  readonly text: string;
  readonly toolCalls: readonly AnswerToolCall[];
  /** `tool_calls`: the client must run the tools and send another request. */
  readonly finishReason: 'stop' | 'tool_calls';
  /** How delivering the answer fails, if it does. */
  readonly failure?: 'status' | 'cut';
}

interface CallerTurn {
  said: string;
  readonly results: Map<string, string>;
}

/**
 * Computes the answer to a conversation. The agent's whole state is rebuilt from the messages every time, so any process
 * can answer any turn.
 * @param hostedTools tools that the client runs; the agent runs the others itself
 */
export function answerTo(
  messages: readonly Message[],
  behaviour: Behaviour,
  now: number,
  hostedTools: ReadonlySet<string> = NONE,
): Answer {
  const { turns, isGreeted } = turnsOf(messages);
  if (turns.length === 0) return { text: GREETING, toolCalls: [], finishReason: 'stop' };
  let state = START;
  for (const turn of turns.slice(0, -1)) state = play(state, turn, behaviour, now, isGreeted).state;

  const last = turns[turns.length - 1] ?? { said: '', results: new Map<string, string>() };
  const answer = play(state, last, behaviour, now, isGreeted, hostedTools);
  if (turns.length < BREAKDOWN_TURN) return answer;
  switch (behaviour.breakdown) {
    case 'silent':
      return { text: '', toolCalls: [], finishReason: 'stop' };
    case 'status':
    case 'cut':
      return { ...answer, failure: behaviour.breakdown };
    case 'repeats':
    case undefined:
      return answer;
  }
}

const NONE: ReadonlySet<string> = new Set();

/** Groups user messages between two answers into one turn; tool results belong to the turn before them. */
function turnsOf(messages: readonly Message[]): { turns: CallerTurn[]; isGreeted: boolean } {
  const turns: CallerTurn[] = [];
  let isGreeted = false;
  let isSpeaking = false;
  for (const { role, content, toolCallId } of messages) {
    const current = turns[turns.length - 1];
    if (role === 'user') {
      if (isSpeaking && current) current.said += ` ${content}`;
      else turns.push({ said: content, results: new Map() });
      isSpeaking = true;
    } else if (role === 'assistant') {
      isGreeted ||= turns.length === 0;
      isSpeaking = false;
    } else if (role === 'tool' && toolCallId !== undefined) current?.results.set(toolCallId, content);
  }
  return { turns, isGreeted };
}

function play(
  state: State,
  { said, results }: CallerTurn,
  behaviour: Behaviour,
  now: number,
  isGreeted: boolean,
  hostedTools: ReadonlySet<string> = NONE,
): Answer & { readonly state: State } {
  const turn = takeTurn(state, said, behaviour, now, isGreeted);
  const toolCalls: AnswerToolCall[] = [];
  let step = turn.next();
  for (let index = 0; !step.done; index += 1) {
    const use: ToolUse = step.value;
    const id = `call_${state.turn + 1}_${index + 1}`;
    const known = results.get(id);
    if (known === undefined) {
      toolCalls.push({ id, name: use.name, arguments: JSON.stringify(use.arguments) });
      if (hostedTools.has(use.name)) return { state, text: '', toolCalls, finishReason: 'tool_calls' };
    } else toolCalls.length = 0; // An earlier answer of this turn already reported this call and those before it.
    step = turn.next(resultOf(use, known));
  }
  return { state: step.value.state, text: step.value.reply, toolCalls, finishReason: 'stop' };
}

/** Uses the agent's own result if the client's contains nothing usable, as with a generic tester. */
function resultOf(use: ToolUse, known: string | undefined): ToolResult {
  const read = known === undefined ? {} : readToolResult(known);
  return Object.keys(read).length > 0 ? read : runTool(use);
}
