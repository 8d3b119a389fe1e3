/**
 * Messages of Twilio Media Streams that the agent uses, see https://www.twilio.com/docs/voice/media-streams/websocket-messages.
 */
export type FromTwilio =
  | { readonly event: 'start'; readonly streamSid: string; readonly callSid: string }
  | { readonly event: 'media'; readonly timestampMs: number; readonly mulaw: Uint8Array }
  | { readonly event: 'dtmf'; readonly digit: string }
  | { readonly event: 'mark'; readonly name: string }
  | { readonly event: 'stop' };

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
    case 'stop':
      return { event: 'stop' };
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
