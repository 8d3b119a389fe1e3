import type { ProtocolOption } from '../endpoint.js';

/** Limits on what is sent on behalf of the user. Twilio allows 500 characters for name and value of a `<Parameter>` together. */
const MAX_PARAMETERS = 50;
const MAX_PARAMETER = 500;
const MAX_NUMBER = 64;
const MAX_TOKEN = 4_096;
const MAX_URL = 2_048;

const printable = (value: unknown, max: number): value is string =>
  typeof value === 'string' && value.length >= 1 && value.length <= max && /^[\x20-\x7e]+$/.test(value);

const text = (max: number): ProtocolOption => ({
  isSecret: false,
  violation: (value) => (printable(value, max) ? undefined : `must be a string of 1 to ${max} printable characters`),
});

/** Options of `twilio-media-streams`. */
export const TWILIO_OPTIONS = {
  /** Signs webhooks and upgrades in place of the agent's `apiKey`. */
  authToken: {
    isSecret: true,
    violation: (value) =>
      printable(value, MAX_TOKEN) ? undefined : `must be a string of 1 to ${MAX_TOKEN} printable ASCII characters`,
  },
  /** Signed in place of the address that is dialled. */
  publicUrl: { isSecret: false, violation: publicUrlViolation },
  from: text(MAX_NUMBER),
  to: text(MAX_NUMBER),
  accountSid: {
    isSecret: false,
    violation: (value) =>
      typeof value === 'string' && /^AC[0-9a-f]{32}$/.test(value)
        ? undefined
        : 'must be an account SID: AC and 32 hexadecimal digits in lower case',
  },
  /** Further parameters of the webhook; with a WebSocket address, the custom parameters of `start`. */
  parameters: { isSecret: false, violation: parametersViolation },
} as const satisfies Readonly<Record<string, ProtocolOption>>;

function publicUrlViolation(value: unknown): string | undefined {
  const isUrl =
    printable(value, MAX_URL) && /^(https?|wss?):\/\/[^/?#@\s]+(?:[/?#]\S*)?$/i.test(value) && URL.canParse(value);
  return isUrl ? undefined : 'must be an absolute http, https, ws or wss address without user name and password';
}

function parametersViolation(value: unknown): string | undefined {
  const entries = typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.entries(value) : [];
  const isRecord = typeof value === 'object' && value !== null && !Array.isArray(value);
  const fits = entries.every(
    ([name, entry]) =>
      name !== '' && typeof entry === 'string' && name.length + entry.length <= MAX_PARAMETER && entry.isWellFormed(),
  );
  return isRecord && fits && entries.length <= MAX_PARAMETERS
    ? undefined
    : `must be an object of at most ${MAX_PARAMETERS} strings, each with at most ${MAX_PARAMETER} characters including its name`;
}

/** The options of a connection, as their validation guarantees. */
export interface TwilioOptions {
  readonly authToken?: string;
  readonly publicUrl?: string;
  readonly from?: string;
  readonly to?: string;
  readonly accountSid?: string;
  readonly parameters?: Readonly<Record<string, string>>;
}
