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
  // The example of the document stands for a file.
  if (recording === 'RIFF…') form.append('recording', new Blob([wavOf()]), 'call.wav');
  else if (typeof recording === 'string') form.append('recording', recording);
  else if (recording !== null) form.append('recording', new Blob([recording]), 'call.wav');
  return form;
}

/** The bytes of the form with their media type, as clients send it. */
export async function encodedForm(
  fields: ImportFields,
): Promise<{ readonly body: Uint8Array<ArrayBuffer>; readonly type: string }> {
  const request = new Request('http://any', { method: 'POST', body: formOf(fields) });
  return { body: new Uint8Array(await request.arrayBuffer()), type: request.headers.get('content-type')! };
}
