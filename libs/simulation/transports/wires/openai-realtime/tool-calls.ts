/** Responses whose results are awaited; more are a fault of the platform that must not fill the memory. */
const MAX_RESPONSES = 1_000;

interface Waiting {
  readonly open: Set<string>;
  readonly results: { readonly id: string; readonly json: string }[];
  /** Whether the response was complete; undefined while it goes on. */
  isComplete?: boolean;
}

export interface ToolOutputs {
  readonly results: readonly { readonly id: string; readonly json: string }[];
  /** Whether the agent is asked to go on: not if the caller has interrupted the response. */
  readonly goesOn: boolean;
}

/**
 * Tool calls and their results, by response. The results are sent together when the response is done, since the platform
 * refuses a new response while one is active.
 */
export class ToolCalls {
  private readonly responses = new Map<string, Waiting>();

  called(responseId: string, id: string): void {
    if (this.responses.size >= MAX_RESPONSES) return;
    const waiting = this.responses.get(responseId) ?? { open: new Set<string>(), results: [] };
    waiting.open.add(id);
    this.responses.set(responseId, waiting);
  }

  /** Whether a response has called tools. */
  has(responseId: string): boolean {
    return this.responses.has(responseId);
  }

  /** @returns what is to be sent now, if anything */
  answered(id: string, json: string): ToolOutputs | undefined {
    for (const [responseId, waiting] of this.responses) {
      if (!waiting.open.delete(id)) continue;
      waiting.results.push({ id, json });
      return this.whenReady(responseId, waiting);
    }
    return undefined;
  }

  /** @returns what is to be sent now, if anything */
  done(responseId: string, isComplete: boolean): ToolOutputs | undefined {
    const waiting = this.responses.get(responseId);
    if (!waiting) return undefined;
    waiting.isComplete = isComplete;
    return this.whenReady(responseId, waiting);
  }

  private whenReady(responseId: string, { open, results, isComplete }: Waiting): ToolOutputs | undefined {
    if (open.size > 0 || isComplete === undefined) return undefined;
    this.responses.delete(responseId);
    return { results, goesOn: isComplete };
  }
}
