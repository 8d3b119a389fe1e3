import { type FailedRequests, WatchedRecogniser } from './watched-recogniser.js';

describe('a watched recogniser', () => {
  const reports: FailedRequests[] = [];
  let isDown = false;
  const watched = new WatchedRecogniser(
    {
      transcribe: async () => {
        if (isDown) throw new Error('The server is down');
        return { text: 'Hello' };
      },
    },
    (of) => reports.push(of),
  );
  const ask = async (count: number, signal?: AbortSignal) => {
    for (let n = 0; n < count; n++) {
      await watched
        .transcribe({ pcm: new Int16Array(8), rate: 8_000, language: 'en', ...(signal && { signal }) })
        .catch(() => undefined);
    }
  };

  it('reports once that more than half of its requests have failed, and again after it has worked', async () => {
    await ask(9);
    isDown = true;
    await ask(9);
    expect(reports).toEqual([]);
    await ask(10);
    expect(reports).toEqual([{ failed: 10, requests: 19 }]);
    isDown = false;
    await ask(30);
    isDown = true;
    await ask(30);
    expect(reports).toHaveLength(2);
  });

  it('does not count what was aborted', async () => {
    const before = watched.requests;
    await ask(5, AbortSignal.abort());
    expect(watched.requests).toEqual(before);
  });
});
