import { AgentFailure, createReferenceAgent, type ReferenceAgent, type ReferenceAgentOptions } from '../agent/agent.js';
import type { Message } from '../agent/conversation.js';
import type { SessionSocket } from '../session-sockets.js';
import { type ClientMessage, server, type ServerMessage } from './messages.js';

interface TextSessionOptions extends Pick<ReferenceAgentOptions, 'fault' | 'now'> {
  readonly clientTools: ReadonlySet<string>;
}

/** A conversation of text: answers come in parts, and then as a whole. */
export class TextSession {
  private readonly agent: ReferenceAgent;
  private readonly history: Message[] = [];
  private events = 0;

  constructor(
    private readonly socket: SessionSocket,
    private readonly options: TextSessionOptions,
  ) {
    this.agent = createReferenceAgent(options);
    void this.answer();
  }

  receive(message: ClientMessage): void {
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
          if (text === '') this.send(server.part('start', '', id));
          text += one.text;
          this.send(server.part('delta', one.text, id));
        } else if (one.type === 'tool_call') {
          callsTools = true;
          if (one.name === 'end_call') hangsUp = true;
          else this.send(server.clientTool(one.id, one.name, JSON.parse(one.arguments) as object, id));
        } else if (text !== '') {
          this.history.push({ role: 'assistant', content: text });
          this.send(server.part('stop', '', id));
          this.send(server.response(text, id));
        } else if (!callsTools) {
          // The planted fault: an empty answer.
          this.send(server.response('', id));
        }
      }
      if (hangsUp) this.send(server.toolResponse(`end_call_${id}`, 'end_call', id));
    } catch (error) {
      if (!(error instanceof AgentFailure)) throw error;
      if (error.status !== undefined) this.send(server.error(1011, 'llm_error', error.message));
      this.socket.close(error.status === undefined ? 1006 : 1011);
    }
  }

  private send(message: ServerMessage): void {
    this.socket.send(JSON.stringify(message));
  }
}
