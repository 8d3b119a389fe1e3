import type { FirstKeyLocation } from './first-key.js';

/** What the first start prints: the API key, or the file that contains it, and the first steps. */
export function welcome(address: string, location: FirstKeyLocation): string {
  const isFile = 'file' in location;
  const key = isFile
    ? `  Your ADMIN API key is in a file that only its owner can read. Store the key safely and delete the file:

    ${location.file}`
    : `  Your ADMIN API key, shown only once:

    ${location.apiKey}`;
  const variable = isFile ? `VAT_API_KEY_FILE=${quoted(location.file)}` : `VAT_API_KEY=${location.apiKey}`;
  return `
Voice Agent Testing is ready at ${address}

${key}

  Swagger page:   ${address}/docs
  First test:     docs/guides/first-test.md, from step 2: an agent, its address, a suite, a run
                  (agents on this machine are called only after a start with OUTBOUND_ALLOWED_NETWORKS=127.0.0.0/8)
  Voice call:     docs/guides/first-call.md (Twilio, OpenAI Realtime), docs/guides/elevenlabs.md, docs/guides/vapi.md, docs/guides/pipecat.md,
                  docs/guides/sip.md (telephone)

  Connect a first agent:

VAT_URL=${address} ${variable} npm run --silent vat -- agent create --name "My agent" --address http://127.0.0.1:4010/v1/chat/completions
`;
}

/** As one word of a POSIX shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
