import { mediaThreads, requestThreads } from '../transports/protocols.js';
import { RequestThread } from '../transports/requests/request-thread.js';
import { MediaThread } from '../voice/thread/media-thread.js';

export { block, crash } from '../../concurrency/testing/thread-faults.js';

const FAULTY = {
  media: new URL('../voice/thread/testing/media-worker.js', import.meta.url),
  requests: new URL('../transports/requests/testing/request-worker.js', import.meta.url),
};

/** Lets the threads of the calls of a test file obey `block` and `crash`. */
export function useFaultyThreads(): void {
  const own = { media: MediaThread.entry, requests: RequestThread.entry };
  beforeAll(() => run(FAULTY));
  afterAll(() => run(own));
}

/** Also ends the threads that run another module. */
async function run({ media, requests }: typeof FAULTY): Promise<void> {
  MediaThread.entry = media;
  RequestThread.entry = requests;
  await Promise.all([mediaThreads.close(), requestThreads.close()]);
}
