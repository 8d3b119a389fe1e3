import { CallFailure } from '../../timeline/failure.js';

/** Characters of a conversation that is sent again each turn. */
const MAX_SIZE = 2 * 1024 * 1024;

/** A conversation as a JSON list of messages, which every request has whole. */
export class History {
  private readonly messages: string[] = [];
  private size = 0;

  /** @throws CallFailure */
  add(message: object): void {
    const json = JSON.stringify(message);
    this.size += json.length;
    if (this.size > MAX_SIZE) throw new CallFailure('answer_too_large', 'the whole conversation');
    this.messages.push(json);
  }

  get json(): string {
    return `[${this.messages.join(',')}]`;
  }
}
