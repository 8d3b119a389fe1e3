import { Injectable } from '@nestjs/common';

/** Makes links of messages that open without an API key. The module of the pages, which imports this one, replaces `make`. */
@Injectable()
export class MessageLinksService {
  /**
   * @param secret that of the webhook, decrypted
   * @returns the address of the page of an agent; undefined if the agent or the webhook was deleted
   */
  make: (agentId: string, webhookId: string, secret: string) => Promise<string | undefined> = () =>
    Promise.resolve(undefined);
}
