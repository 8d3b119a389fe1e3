import { randomUUID } from 'node:crypto';
import type { KeptCall, KeptLine, KeptTool } from '../records/kept-calls.js';
import type { ReferenceAgent } from './agent.js';
import type { Message } from './conversation.js';

const OPENING = "Hello, I'd like to book a table, please.";
/** What a caller who wants a table says to a question, by what the agent asks. */
const ANSWERS: readonly (readonly [RegExp, string])[] = [
  [/how many people/i, 'Four of us.'],
  [/which (other )?day/i, 'On Friday, please.'],
  [/(what|which) time/i, 'At half past seven in the evening.'],
  [/which name/i, 'Rossi.'],
  [/your phone number, please/i, 'My number is 415 555 0142.'],
  [/shall i book/i, 'Yes, please.'],
  [/is booked/i, 'No, thank you. Goodbye.'],
];
/** The caller hangs up on an agent to which it has nothing more to say. */
const MAX_LINES = 12;
const MS_PER_CHARACTER = 60;
const PAUSE_MS = 700;

/** What a platform keeps of a call of a real caller with the agent, which ended just now. */
export async function realCall(agent: ReferenceAgent, name: string): Promise<KeptCall> {
  const lines: KeptLine[] = [];
  const tools: KeptTool[] = [];
  const messages: Message[] = [];
  let [atMs, hasHungUp] = [0, false];
  const speak = (speaker: KeptLine['speaker'], text: string) => {
    messages.push({ role: speaker === 'caller' ? 'user' : 'assistant', content: text });
    const startMs = atMs + PAUSE_MS;
    lines.push({ speaker, text, startMs, endMs: (atMs = startMs + text.length * MS_PER_CHARACTER) });
  };
  for (let said: string | undefined = OPENING; said !== undefined && !hasHungUp && lines.length < MAX_LINES * 2;) {
    speak('caller', said);
    let text = '';
    for await (const part of agent.respond(messages)) {
      if (part.type === 'text') text += part.text;
      if (part.type !== 'tool_call') continue;
      hasHungUp ||= part.name === 'end_call';
      const result = '{"status":"ok"}';
      const called = { id: part.id, name: part.name, arguments: JSON.parse(part.arguments) as object, result };
      tools.push({ ...called, startMs: (atMs += 100) });
    }
    if (text !== '') speak('agent', text);
    said = ANSWERS.find(([asked]) => asked.test(text))?.[1];
  }
  const endedAt = Date.now();
  const reason = hasHungUp ? 'agent_hangup' : 'user_hangup';
  const times = { startedAt: endedAt - atMs, endedAt };
  return { id: `call_${randomUUID()}`, agent: name, ...times, lines, tools, reason, sound: null };
}
