import { HttpClient } from './http.js';
import { wavOf } from './wav-call.js';

/** Fields of a form; null leaves one out. */
export interface ImportFields {
  readonly recording?: Uint8Array<ArrayBuffer> | string | null;
  readonly channels?: string | null;
  readonly evaluationId?: string | null;
  readonly startedAt?: string | null;
  readonly transcript?: unknown;
  readonly externalId?: string;
  readonly [name: string]: unknown;
}

export const STARTED_AT = '2026-11-20T09:30:00.000Z';

/** The form of an import; objects are sent as JSON. */
export function formOf(given: ImportFields): FormData {
  const form = new FormData();
  const { recording = wavOf(), ...fields } = { channels: 'caller-agent', startedAt: STARTED_AT, ...given };
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined || value === null) continue;
    form.append(name, typeof value === 'string' ? value : JSON.stringify(value));
  }
  if (typeof recording === 'string') form.append('recording', recording);
  else if (recording !== null) form.append('recording', new Blob([recording]), 'call.wav');
  return form;
}

/** Imports a call. */
export async function importCall(
  { url, apiKey }: { readonly url: string; readonly apiKey: string },
  agentId: string,
  fields: ImportFields,
  headers: Record<string, string> = {},
): Promise<{ status: number; headers: Headers; body: any }> {
  // With a boundary and a Content-Length, as clients send it.
  const request = new Request('http://any', { method: 'POST', body: formOf(fields) });
  const body = new Uint8Array(await request.arrayBuffer());
  return new HttpClient(url, apiKey).post(`/agents/${agentId}/calls/import`, body, {
    'Content-Type': request.headers.get('content-type')!,
    ...headers,
  });
}
