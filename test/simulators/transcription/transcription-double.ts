/** Doubles of transcription servers, which record the requests. */
import type { Socket } from 'node:net';
import { listening, type ListeningBehaviour } from './listening.js';
import type { SentenceListener } from './sentence-listener.js';
import { type ReceivedAudio, type ServerAnswer, TranscriptionServer } from './transcription-server.js';

export type { ListeningBehaviour } from './listening.js';
export { SentenceListener } from './sentence-listener.js';
export type { ServerAnswer } from './transcription-server.js';

/** A transcription server whose answers a function decides. */
export class TranscriptionDouble extends TranscriptionServer {
  readonly received: ReceivedAudio[] = [];
  /** Highest number of requests at once so far. */
  most = 0;
  private present = 0;
  private readonly sockets: Socket[] = [];

  constructor(...given: ConstructorParameters<typeof TranscriptionServer>) {
    super(...given);
    this.server.on('connection', (socket) => this.sockets.push(socket));
  }

  /** Bytes received over all connections. */
  get bytes(): number {
    return this.sockets.reduce((sum, { bytesRead }) => sum + bytesRead, 0);
  }

  protected override async take(audio: ReceivedAudio): Promise<ServerAnswer> {
    this.most = Math.max(this.most, ++this.present);
    this.received.push(audio);
    try {
      return await super.take(audio);
    } finally {
      this.present--;
    }
  }
}

/** A server that recognises words by the audio alone, with the given errors. */
export const listeningServer = (listener: SentenceListener, behaviour?: ListeningBehaviour): TranscriptionDouble =>
  new TranscriptionDouble(listening(listener, behaviour));
