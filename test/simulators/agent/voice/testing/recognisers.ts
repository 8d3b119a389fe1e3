import { OutboundClient } from '../../../../../libs/outbound-http/index.js';
import { HttpRecogniser } from '../../../../../libs/speech/index.js';
import {
  type ListeningBehaviour,
  listeningServer,
  type SentenceListener,
  type TranscriptionDouble,
} from '../../../transcription/transcription-double.js';

/** Clients of transcription servers that really listen, each with a server of its own. */
export class Recognisers {
  private readonly servers: TranscriptionDouble[] = [];
  private readonly outbound = new OutboundClient({ allowedNetworks: ['127.0.0.0/8'] });

  /** @param timeoutMs of one request */
  async listening(
    listener: SentenceListener,
    behaviour: ListeningBehaviour = {},
    timeoutMs?: number,
  ): Promise<HttpRecogniser> {
    const server = listeningServer(listener, behaviour);
    this.servers.push(server);
    const baseUrl = await server.start();
    return new HttpRecogniser({
      ...{ baseUrl, concurrency: 4, outbound: this.outbound },
      ...(timeoutMs !== undefined && { timeoutMs }),
    });
  }

  async close(): Promise<void> {
    for (const server of this.servers.splice(0)) await server.stop();
  }
}
