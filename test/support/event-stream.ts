/** One server-sent event. */
export interface StreamEvent {
  readonly event: string;
  readonly id: string | undefined;
  readonly data: any;
}

export interface EventStream {
  readonly status: number;
  readonly headers: Headers;
  /** Events received so far. */
  readonly events: StreamEvent[];
  /** Resolves when the server has ended the stream. @throws if the stream was cut off */
  readonly ended: Promise<void>;
  /** Disconnects the client. */
  disconnect(): void;
}

/** Opens a stream of server-sent events. */
export async function openEventStream(url: string, headers: Record<string, string>): Promise<EventStream> {
  const abort = new AbortController();
  const response = await fetch(url, { headers, signal: abort.signal });
  const events: StreamEvent[] = [];
  const read = async () => {
    let text = '';
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk as Uint8Array, { stream: true });
      const blocks = text.split('\n\n');
      text = blocks.pop() ?? '';
      events.push(...blocks.filter((block) => !block.startsWith(':')).map(parse));
    }
    if (text !== '') throw new Error(`The stream ends in the middle of an event: ${text}`);
  };
  const ended = read().catch((error: unknown) => {
    if (!abort.signal.aborted) throw error;
  });
  return { status: response.status, headers: response.headers, events, ended, disconnect: () => abort.abort() };
}

function parse(block: string): StreamEvent {
  const fields = new Map(
    block.split('\n').map((line): [string, string] => {
      const colon = line.indexOf(': ');
      return [line.slice(0, colon), line.slice(colon + 2)];
    }),
  );
  return { event: fields.get('event') ?? '', id: fields.get('id'), data: JSON.parse(fields.get('data') ?? 'null') };
}
