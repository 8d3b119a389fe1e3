import type { DatagramTarget } from '../wire/signalling.js';

/** How the media thread exchanges messages with an agent: over a WebSocket, or as datagrams. */
export interface Connection {
  send(data: string | Uint8Array): void;
  /** Before each tick: passes on what has arrived, or that the other side has closed the connection. */
  poll(): void;
  /** Ends it at once; nothing is called afterwards. */
  drop(): void;
  /** Ends it in the orderly way; nothing is called afterwards. */
  close(): void;
  /** The other side receives elsewhere from now on. */
  move?(target: DatagramTarget): void;
}
