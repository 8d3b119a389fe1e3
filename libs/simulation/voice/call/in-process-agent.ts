import type { JsonValue } from '../../timeline/text.js';

/**
 * An agent in this process at the other end of a protocol for voice calls. It has no thread, timer or socket: everything happens
 * in these methods. `now` is the virtual clock in milliseconds; the stream of the call starts at 0.
 */
export interface InProcessMediaAgent {
  /** A message of the protocol, text or binary, as the agent's WebSocket would receive it. */
  onMessage(now: number, data: string | Uint8Array): void;
  /** Called every 10 ms of virtual time, after the messages of that time. */
  tick(now: number): void;
  /** Called last, after the caller has hung up or the agent has closed the connection. */
  onClose?(now: number): void;
}

/** The agent's end of the connection. */
export interface InProcessSocket {
  send(data: string | Uint8Array): void;
  /** Says something beside the connection, in the words of the session of the wire. */
  signal?(message: JsonValue): void;
  /** Closes the connection; by default with 1000, a normal closure (RFC 6455, section 7.4.1). */
  close(code?: number, reason?: string): void;
}

/** Answers one call. */
export type InProcessMediaAgentFactory = (socket: InProcessSocket) => InProcessMediaAgent;
