import { isObject } from '../../../../json-input/index.js';
import type { JsonValue } from '../../../timeline/text.js';

/** A message of the agent, as far as it can be understood. `streamSid` is unchecked. */
export type AgentMessage =
  | { readonly event: 'media'; readonly streamSid: unknown; readonly sound: Uint8Array; readonly isUnusual: boolean }
  | {
      readonly event: 'mark';
      readonly streamSid: unknown;
      readonly name: string | undefined;
      readonly isNumber: boolean;
    }
  | { readonly event: 'clear'; readonly streamSid: unknown }
  | { readonly event: 'unknown'; readonly name: string }
  | { readonly event: 'binary' }
  /** `problem` continues "The message …". */
  | { readonly event: 'invalid'; readonly problem: string };

const MAX_NAME = 1_000;
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;
/** With line breaks, and in the alphabet for URLs. */
const UNUSUAL_BASE64 = /^[A-Za-z0-9+/_\s-]*={0,2}$/;

/** Reads a message of an untrusted agent; never throws. @param data text, or the bytes of a binary message */
export function readMessage(data: string | Uint8Array): AgentMessage {
  if (typeof data !== 'string') return { event: 'binary' };
  const message = parsed(data);
  if (message === undefined) return invalid('is not valid JSON');
  if (!isObject(message)) return invalid('is not a JSON object');
  const { event, streamSid } = message;
  if (typeof event !== 'string') return invalid('has no event');
  switch (event) {
    case 'media':
      return readMedia(message);
    case 'mark':
      return readMark(message);
    case 'clear':
      return { event, streamSid };
    default:
      return { event: 'unknown', name: event.slice(0, MAX_NAME) };
  }
}

function readMedia({ streamSid, media }: Record<string, JsonValue>): AgentMessage {
  const payload = isObject(media) ? media.payload : undefined;
  if (payload === undefined) return invalid('of the event media has no media.payload');
  const isBase64 = typeof payload === 'string' && BASE64.test(payload);
  if (!isBase64 && (typeof payload !== 'string' || !UNUSUAL_BASE64.test(payload.trimEnd()))) {
    return invalid('has a media.payload that is not base64');
  }
  const isUnusual = !isBase64 || payload.length % 4 !== 0;
  return { event: 'media', streamSid, sound: Buffer.from(payload, 'base64'), isUnusual };
}

function readMark({ streamSid, mark }: Record<string, JsonValue>): AgentMessage {
  const given = isObject(mark) ? mark.name : undefined;
  const isNumber = typeof given === 'number';
  const name = isNumber ? String(given) : given;
  if (name !== undefined && typeof name !== 'string') return invalid('has a mark.name that is not a string');
  if ((name?.length ?? 0) > MAX_NAME) return invalid(`has a mark.name of more than ${MAX_NAME} characters`);
  return { event: 'mark', streamSid, name: name === '' ? undefined : name, isNumber };
}

const invalid = (problem: string): AgentMessage => ({ event: 'invalid', problem });

function parsed(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}
