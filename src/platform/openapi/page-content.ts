import type { FileContent } from './operation.decorator.js';

const EXAMPLE = '<!doctype html><html lang="en"><head><title>Nightly</title></head><body>…</body></html>';

/** A page in the OpenAPI document. */
export const PAGE_CONTENT: FileContent = { 'text/html': { schema: { type: 'string' }, example: EXAMPLE } };

/** A recording in the OpenAPI document. */
export const AUDIO_CONTENT: FileContent = {
  'audio/wav': { schema: { type: 'string', format: 'binary' }, example: 'RIFF…' },
};
