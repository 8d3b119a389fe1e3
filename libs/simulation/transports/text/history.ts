import { CallFailure } from '../../timeline/failure.js';
import { guarded } from '../../timeline/text.js';

/** Characters of a conversation that is sent again each turn. */
const MAX_SIZE = 2 * 1024 * 1024;

/** A conversation as a JSON list of messages, which every request has whole. Strict servers refuse half a surrogate pair in it. */
export class History {
  private readonly messages: string[] = [];
  private size = 0;

  /** @throws CallFailure */
  add(message: object): void {
    const json = jsonOf(message);
    this.size += json.length;
    if (this.size > MAX_SIZE) throw new CallFailure('answer_too_large', 'the whole conversation');
    this.messages.push(json);
  }

  get json(): string {
    return `[${this.messages.join(',')}]`;
  }
}

/** @throws CallFailure for one that can be parsed, but is nested too deeply to be written */
function jsonOf(message: object): string {
  try {
    return JSON.stringify(guarded(message));
  } catch (cause) {
    throw new CallFailure('answer_too_large', 'a message is nested too deeply', { cause });
  }
}
