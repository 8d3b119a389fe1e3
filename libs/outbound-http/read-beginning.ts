import { brotliDecompressSync, constants, unzipSync } from 'node:zlib';
import type { OutboundStream } from './exchange.js';

/** Maximum size of what is read, in bytes, and of what it is decompressed to. */
const MAX_BYTES = 4 * 1024;
const MAX_DECOMPRESSED_BYTES = 64 * 1024;
/** How long the body may take, in milliseconds: it must not prolong what has already failed. */
const MAX_MS = 1_000;

/**
 * The beginning of a response that is an error, as text: at most 4 KiB within a second, without an exception. Bytes that are
 * not UTF-8 become U+FFFD. Closes the response.
 */
export async function readBeginning({ headers, body, close }: OutboundStream): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  const reading = (async () => {
    try {
      for await (const chunk of body) {
        chunks.push(chunk);
        length += chunk.length;
        if (length >= MAX_BYTES) break;
      }
    } catch {
      // What has arrived is shown.
    }
  })();
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<void>((resolve) => (timer = setTimeout(resolve, MAX_MS)));
  await Promise.race([reading, timeout]);
  clearTimeout(timer);
  close();
  return decompressed(Buffer.concat(chunks).subarray(0, MAX_BYTES), headers['content-encoding']).toString('utf8');
}

/** Some servers compress although the request does not accept it. Bodies that cannot be decompressed are returned as they are. */
function decompressed(bytes: Buffer, encoding = 'identity'): Buffer {
  const maxOutputLength = MAX_DECOMPRESSED_BYTES;
  try {
    if (/^(x-)?(gzip|deflate)$/i.test(encoding)) {
      // The end of the body may be missing.
      return unzipSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength });
    }
    if (/^br$/i.test(encoding)) {
      return brotliDecompressSync(bytes, { finishFlush: constants.BROTLI_OPERATION_FLUSH, maxOutputLength });
    }
  } catch {
    // Shown as it is.
  }
  return bytes;
}
