import type { ProtocolOption } from '../../modules/module.js';

/** Limits on what is sent on behalf of the user. Twilio allows 500 characters for name and value of a `<Parameter>` together. */
const MAX_PARAMETERS = 50;
const MAX_PARAMETER = 500;
const MAX_NUMBER = 64;
const MAX_TOKEN = 4_096;
const MAX_URL = 2_048;

const printable = (value: unknown, max: number): value is string =>
  typeof value === 'string' && value.length >= 1 && value.length <= max && /^[\x20-\x7e]+$/.test(value);

const text = (max: number, description: string): ProtocolOption => ({
  isSecret: false,
  description,
  violation: (value) => (printable(value, max) ? undefined : `must be a string of 1 to ${max} printable characters`),
});

/** Options of `twilio-media-streams`. */
export const TWILIO_OPTIONS = {
  authToken: {
    isSecret: true,
    description: 'signs webhooks and upgrades; by default the `apiKey` of the agent',
    violation: (value) =>
      printable(value, MAX_TOKEN) ? undefined : `must be a string of 1 to ${MAX_TOKEN} printable ASCII characters`,
  },
  publicUrl: {
    isSecret: false,
    description: 'signed in place of the address that is called',
    violation: publicUrlViolation,
  },
  from: text(MAX_NUMBER, 'number of the caller'),
  to: text(MAX_NUMBER, 'number that is called; by default the `phoneNumber` of the agent'),
  method: {
    isSecret: false,
    description: 'method of the first request, `POST` by default, or `GET`',
    violation: (value) => (value === 'GET' || value === 'POST' ? undefined : 'must be GET or POST'),
  },
  accountSid: {
    isSecret: false,
    description: 'account SID of the requests',
    violation: (value) =>
      typeof value === 'string' && /^AC[0-9a-f]{32}$/.test(value)
        ? undefined
        : 'must be an account SID: AC and 32 hexadecimal digits in lower case',
  },
  parameters: {
    isSecret: false,
    description:
      'object of strings: further parameters of the webhook or, with a WebSocket address, custom parameters of `start`',
    violation: parametersViolation,
  },
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
