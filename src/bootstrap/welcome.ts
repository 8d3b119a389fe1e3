import type { FirstKeyLocation } from './first-key.js';

/** What the first start prints: the API key, or the file that contains it, and the first steps. */
export function welcome(address: string, location: FirstKeyLocation): string {
  const isFile = 'file' in location;
  const key = isFile
    ? `  Your ADMIN API key is in a file that only its owner can read. Store the key safely and delete the file:

    ${location.file}`
    : `  Your ADMIN API key, shown only once:

    ${location.apiKey}`;
  const header = isFile
    ? `"Authorization: Bearer $(cat ${quoted(location.file)})"`
    : `'Authorization: Bearer ${location.apiKey}'`;
  return `
Voice Agent Testing is ready at ${address}

${key}

  Swagger page:   ${address}/docs
  First test:     docs/guides/first-test.md, from step 2: an agent, its address, a suite, a run
                  (agents on this machine are called only after a start with OUTBOUND_ALLOWED_NETWORKS=127.0.0.0/8)
  Voice call:     docs/guides/first-call.md (Twilio, OpenAI Realtime), docs/guides/elevenlabs.md, docs/guides/vapi.md

  Create a first agent, which is called once it has an address (PUT /agents/{id}/connection):

curl -sS -X POST ${address}/agents -H ${header} -H 'Content-Type: application/json' -d '{"provider":"AGENT_PROVIDER_1","assistantId":"assistant-1","apiKey":"provider-key-1","name":"Bella Vista reservations"}'
`;
}

/** As one word of a POSIX shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
