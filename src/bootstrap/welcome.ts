import type { FirstKey } from '../modules/api-keys/first-key.service.js';

/** What the first start prints: the API key and the first steps. */
export function welcome(address: string, { apiKey }: FirstKey): string {
  return `
Voice Agent Testing is ready at ${address}

  Your ADMIN API key, shown only once:

    ${apiKey}

  Swagger page:   ${address}/docs
  Create a first agent:

curl -sS -X POST ${address}/agents -H 'Authorization: Bearer ${apiKey}' -H 'Content-Type: application/json' -d '{"provider":"AGENT_PROVIDER_1","assistantId":"assistant-1","apiKey":"provider-key-1","name":"Bella Vista reservations"}'
`;
}
