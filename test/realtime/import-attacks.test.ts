import { setTimeout as sleep } from 'node:timers/promises';
import { sample } from '../../libs/statistics/testing/sample.js';
import { EvaluationFiles, MEDIA_TYPES } from '../support/evaluation-files.js';
import { HttpClient } from '../support/http.js';
import { IMPORT_ATTACKS } from '../support/import-attacks.js';
import { measureStalls } from '../support/stalls.js';

/**
 * How long the event loop of the service and of this test may stall while a file is read: as a share of the time that
 * the import takes, because a file that is read by the event loop stalls it for all of that time. Short imports prove
 * nothing, so stalls of less than this many milliseconds are allowed.
 */
const MAX_STALL_SHARE = 0.5;
const NEGLIGIBLE_STALL_MS = 600;

describe('hostile imports do not delay other workspaces', () => {
  let files: EvaluationFiles;
  let agentId: string;
  let other: HttpClient;

  beforeAll(async () => {
    files = await EvaluationFiles.open();
    agentId = await files.createAgent();
    other = new HttpClient(files.app.url, (await files.app.createWorkspace()).apiKey);
    // The first import starts a thread.
    expect((await files.send(agentId, [])).status).toBe(200);
  });
  afterAll(() => files.app.close());

  it.each(sample(IMPORT_ATTACKS))('hold for an import of $name', async ({ format, body, encoding }) => {
    const bytes = body();
    // Time for the garbage of creating the file.
    await sleep(200);
    const headers = { 'Content-Type': MEDIA_TYPES[format], ...(encoding && { 'Content-Encoding': encoding }) };
    const path = `/agents/${agentId}/evaluations/import`;
    const attack = () => files.client.send('POST', path, bytes, headers);
    const { result, tookMs, longestMs, statuses } = await measureStalls(attack, other);
    expect([400, 413]).toContain(result.status);
    expect(statuses).toEqual([200]);
    expect(longestMs).toBeLessThan(Math.max(NEGLIGIBLE_STALL_MS, tookMs * MAX_STALL_SHARE));
  });
});
