import type { ServerResponse } from 'node:http';
import type { WebSocket } from 'ws';
import { type Answer, type Exchange, sendAnswer } from './exchange-proxy.js';
import { type Field, fieldsOf, shownField, withField } from './fields.js';

/** Other JSON for one field, in its first message. */
export interface Change {
  readonly field: Field;
  readonly json: string;
}

/** Notes the fields of a healthy exchange, and replays it with one of them changed. */
export class FieldsOfExchange implements Exchange {
  /** By variant. */
  readonly changes = new Map<string, Change>();
  private readonly found = new Map<string, Field>();

  get fields(): readonly Field[] {
    return [...this.found.values()];
  }

  answer(variant: string, answer: Answer, response: ServerResponse): void {
    const text = answer.body.toString('utf8');
    const isStream = answer.headers['content-type']?.startsWith('text/event-stream') ?? false;
    const json = (line: string) => this.changed(variant, line);
    sendAnswer(response, answer, isStream ? text.replace(/(?<=^data: ).*$/gm, json) : json(text));
  }

  message(variant: string, data: string | Buffer, _index: number, socket: WebSocket): void {
    socket.send(typeof data === 'string' ? this.changed(variant, data) : data);
  }

  private changed(variant: string, json: string): string {
    const change = this.changes.get(variant);
    if (!change) {
      for (const field of fieldsOf(json)) this.found.set(shownField(field), field);
      return json;
    }
    const changed = withField(json, change.field, change.json);
    if (changed === undefined) return json;
    this.changes.set(variant, { ...change, field: { ...change.field, kind: 'already changed' } });
    return changed;
  }
}
