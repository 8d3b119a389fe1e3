import type { JsonValue } from '../../timeline/text.js';

/** Where the packets of a call go, and which ones belong to it: plain data. */
export interface DatagramTarget {
  /** The announced address first, then others at which packets may come. All of them may be reached. */
  readonly expected: readonly { readonly address: string; readonly port: number }[];
  /** Where RTCP goes; absent: to the port of RTP. */
  readonly rtcpPort?: number;
  /** Master keys with salt, in base64; absent: packets are not encrypted. */
  readonly srtp?: { readonly ours: string; readonly theirs: string };
  /** Networks that may be reached although they are not public, if packets come from elsewhere. */
  readonly allowedNetworks: readonly string[];
}

/** What signalling says of a call that goes on: plain data. */
export interface CallSignal {
  /** Milliseconds since the epoch, with fractions. */
  readonly at: number;
  /** For the wire. */
  readonly message: JsonValue;
  readonly target?: DatagramTarget;
  /** Line of the wire log that it makes if the call is over. */
  readonly line?: string;
}

/** Passes on what signalling says of a call, and keeps it until the call has begun. */
export class Signalling {
  private readonly waiting: CallSignal[] = [];
  private tell: ((signal: CallSignal) => unknown) | undefined;

  readonly say = (signal: CallSignal): void => {
    if (this.tell) this.tell(signal);
    else this.waiting.push(signal);
  };

  listen(tell: (signal: CallSignal) => unknown): void {
    this.tell = tell;
    for (const signal of this.waiting.splice(0)) tell(signal);
  }
}
