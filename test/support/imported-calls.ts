import { HttpClient } from './http.js';
import { type ImportFields } from './import-form.js';

export { formOf, type ImportFields, STARTED_AT } from './import-form.js';

/** Imports a call. */
export async function importCall(
  { url, apiKey }: { readonly url: string; readonly apiKey: string },
  agentId: string,
  fields: ImportFields,
  headers: Record<string, string> = {},
): Promise<{ status: number; headers: Headers; body: any }> {
  return new HttpClient(url, apiKey).post(`/agents/${agentId}/calls/import`, fields, {
    'Content-Type': 'multipart/form-data',
    ...headers,
  });
}
