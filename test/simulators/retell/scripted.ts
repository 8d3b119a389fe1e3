import type { IncomingHttpHeaders } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type CompletionAnswer,
  type CompletionBody,
  CUT,
  type ListedAgent,
  NOT_FOUND,
  refusal,
  type Reply,
  type RetellAgents,
} from './messages.js';

/** How the platform breaks its protocol, or deviates from what is usual. */
export type RetellFault = 'no-json' | 'no-list' | 'too-large' | 'cut' | 'slow' | 'unknown-role' | 'echo-key';

export interface RetellScript {
  /** The only agent that is known; without it, every agent is. */
  readonly agentId?: string;
  readonly answer?: (body: CompletionBody, turn: number) => CompletionAnswer;
  /** Answers every completion with it. */
  readonly refusal?: { readonly status: number; readonly message: string; readonly headers?: Record<string, string> };
  readonly agents?: readonly ListedAgent[];
  readonly fault?: RetellFault;
}

const SLOW_MS = 300;

/** Agents that answer what a test chooses. */
export class ScriptedRetell implements RetellAgents {
  readonly completions: CompletionBody[] = [];
  readonly listed: readonly ListedAgent[];

  constructor(private readonly script: RetellScript) {
    this.listed = script.agents ?? [];
  }

  knows(id: string): boolean {
    return this.script.agentId === undefined || id === this.script.agentId;
  }

  async complete(id: string, body: CompletionBody, headers: IncomingHttpHeaders): Promise<Reply> {
    const { refusal: refused, fault, answer = () => ({ messages: [] }) } = this.script;
    if (refused) return refusal(refused.status, refused.message, refused.headers);
    if (!this.knows(id)) return refusal(422, NOT_FOUND);
    this.completions.push(body);
    const given = answer(body, this.completions.length);
    switch (fault) {
      case 'no-json':
        return { status: 200, body: '<html>Hello</html>' };
      case 'no-list':
        return { status: 200, body: { messages: 'none' } };
      case 'too-large':
        return { status: 200, body: { messages: [{ role: 'agent', content: 'a'.repeat(2 * 1024 * 1024) }] } };
      case 'cut':
        return CUT;
      case 'echo-key':
        return refusal(400, `Bad request: ${JSON.stringify(headers)}`);
      case 'unknown-role':
        return { status: 200, body: { ...given, messages: [...UNKNOWN_MESSAGES, ...given.messages] } };
      case 'slow':
        await sleep(SLOW_MS);
        return { status: 200, body: given };
      case undefined:
        return { status: 200, body: given };
    }
  }
}

const UNKNOWN_MESSAGES = [{ role: 'telepathy', content: 'Secret thought' }, null, 7];
