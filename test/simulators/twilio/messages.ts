import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Session, SessionSocket } from '../session-sockets.js';

/** A request of Twilio for what to do with a call. */
export interface Webhook {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly form: Readonly<Record<string, string>>;
  /** Scheme and host of the server as Twilio sees it. */
  readonly origin: string;
}

/** Begins a stream, or has status and reason of the refusal; undefined if the socket was answered. */
export type Beginning = ((socket: SessionSocket) => Session) | readonly [status: string, reason?: string] | undefined;

/** The agents that are called. */
export interface TwilioAgents {
  /** Prepares what a call needs; calls wait for it. */
  prepare(): Promise<unknown>;
  /** Whether they have a webhook there. */
  hasWebhook(method: string, path: string): boolean;
  /** @returns TwiML, unless it writes the response itself */
  answer(webhook: Webhook, response: ServerResponse): Promise<string | void> | string | void;
  begin(request: IncomingMessage, socket: Duplex): Promise<Beginning> | Beginning;
}

/** Answers the webhook: the call's audio goes to `streamUrl`, and `action` is requested after the stream has ended. */
export const connectStream = (streamUrl: string, action: string): string =>
  twiml(`<Connect action="${escape(action)}"><Stream url="${escape(streamUrl)}"/></Connect>`);

/** The same from parts that need not be valid XML. */
export const connect = (url: string, { before = '', after = '', attributes = '', inside = '' } = {}): string =>
  twiml(`${before}<Connect${attributes}><Stream url="${url}">${inside}</Stream></Connect>${after}`);

export const dial = (phoneNumber: string): string => twiml(`<Dial>${escape(phoneNumber)}</Dial>`);

const twiml = (verbs: string): string => `<?xml version="1.0" encoding="UTF-8"?><Response>${verbs}</Response>`;

export const HANG_UP = twiml('<Hangup/>');

const escape = (text: string): string =>
  text.replace(/[&<>"]/g, (char) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[char] ?? char);

/** The same origin for WebSockets, as Twilio signs it. */
export const streamOriginOf = (origin: string): string => origin.replace(/^https?:/, 'wss:');

/**
 * Messages of Twilio Media Streams that the agent uses, see https://www.twilio.com/docs/voice/media-streams/websocket-messages.
 */
export type FromTwilio =
  | { readonly event: 'start'; readonly streamSid: string; readonly callSid: string }
  | { readonly event: 'media'; readonly timestampMs: number; readonly mulaw: Uint8Array }
  | { readonly event: 'dtmf'; readonly digit: string }
  | { readonly event: 'mark'; readonly name: string };

interface Wire {
  readonly event?: unknown;
  readonly streamSid?: unknown;
  readonly start?: { readonly streamSid?: unknown; readonly callSid?: unknown };
  readonly media?: { readonly track?: unknown; readonly timestamp?: unknown; readonly payload?: unknown };
  readonly dtmf?: { readonly digit?: unknown };
  readonly mark?: { readonly name?: unknown };
}

/** @returns undefined for messages that the agent does not use */
export function readTwilioMessage(text: string): FromTwilio | undefined {
  const message = parse(text);
  switch (message?.event) {
    case 'start': {
      const { streamSid = message.streamSid, callSid } = message.start ?? {};
      return { event: 'start', streamSid: textOf(streamSid), callSid: textOf(callSid) };
    }
    case 'media': {
      const { payload, timestamp } = message.media ?? {};
      return { event: 'media', timestampMs: Number(timestamp), mulaw: Buffer.from(textOf(payload), 'base64') };
    }
    case 'dtmf':
      return { event: 'dtmf', digit: textOf(message.dtmf?.digit) };
    case 'mark':
      return { event: 'mark', name: textOf(message.mark?.name) };
    default:
      return undefined;
  }
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

function parse(text: string): Wire | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

export const mediaMessage = (streamSid: string, bytes: Uint8Array): string =>
  JSON.stringify({ event: 'media', streamSid, media: { payload: Buffer.from(bytes).toString('base64') } });

/** @param name undefined plants the fault: Twilio ignores a mark without a name */
export const markMessage = (streamSid: string, name: string | undefined): string =>
  JSON.stringify({ event: 'mark', streamSid, mark: name === undefined ? {} : { name } });

export const clearMessage = (streamSid: string): string => JSON.stringify({ event: 'clear', streamSid });
