import { AgentFailure, createReferenceAgent, type ReferenceAgent, type ReferenceAgentOptions } from '../agent/agent.js';
import type { Message } from '../agent/conversation.js';
import * as messages from './messages.js';

interface TextSessionOptions extends Pick<ReferenceAgentOptions, 'fault' | 'now'> {
  readonly clientTools: ReadonlySet<string>;
}

/** A conversation of text: answers come in parts, and then as a whole. */
export class TextSession {
  private readonly agent: ReferenceAgent;
  private readonly history: Message[] = [];
  private events = 0;

  constructor(
    private readonly socket: { send(text: string): void; close(code?: number): void },
    private readonly options: TextSessionOptions,
  ) {
    this.agent = createReferenceAgent(options);
    void this.answer();
  }

  receive(message: messages.ClientMessage): void {
    if (message.type === 'user_message') this.history.push({ role: 'user', content: String(message['text']) });
    else if (message.type === 'client_tool_result') {
      const [toolCallId, content] = [String(message['tool_call_id']), String(message['result'])];
      this.history.push({ role: 'tool', content, toolCallId });
    } else return;
    void this.answer();
  }

  private async answer(): Promise<void> {
    const { clientTools } = this.options;
    const id = ++this.events;
    let text = '';
    let hangsUp = false;
    let callsTools = false;
    try {
      for await (const one of this.agent.respond(this.history, { hostedTools: clientTools })) {
        if (one.type === 'text') {
          if (text === '') this.socket.send(messages.part(id, 'start'));
          text += one.text;
          this.socket.send(messages.part(id, 'delta', one.text));
        } else if (one.type === 'tool_call') {
          callsTools = true;
          if (one.name === 'end_call') hangsUp = true;
          else this.socket.send(messages.clientTool(id, one.id, one.name, JSON.parse(one.arguments) as object));
        } else if (text !== '') {
          this.history.push({ role: 'assistant', content: text });
          this.socket.send(messages.part(id, 'stop'));
          this.socket.send(messages.response(id, text));
        } else if (!callsTools) {
          // The planted fault: an empty answer.
          this.socket.send(messages.response(id, ''));
        }
      }
      if (hangsUp) this.socket.send(messages.toolResponse(id, `end_call_${id}`, 'end_call'));
    } catch (error) {
      if (!(error instanceof AgentFailure)) throw error;
      if (error.status !== undefined) this.socket.send(messages.error(1011, 'llm_error', error.message));
      this.socket.close(error.status === undefined ? 1006 : 1011);
    }
  }
}
