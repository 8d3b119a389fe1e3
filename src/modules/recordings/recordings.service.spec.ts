import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Logger } from '@nestjs/common';
import type { Settings } from '../../platform/config/settings.js';
import { RecordingFiles } from './recording-files.js';
import { RecordingsService } from './recordings.service.js';
import type { RecordingsRepository } from './recordings.repository.js';

describe('RecordingsService when the disk or the database fails in the middle of a call', () => {
  let dataDir = '';
  let repository: Pick<RecordingsRepository, 'insert'>;
  beforeEach(async () => {
    dataDir = await mkdtemp(path.join(tmpdir(), 'recordings-'));
    // The first write to the database fails.
    let writes = 0;
    repository = {
      insert: () =>
        ++writes === 1
          ? Promise.reject(Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }))
          : Promise.resolve(true),
    };
    for (const level of ['error', 'warn'] as const) jest.spyOn(Logger.prototype, level).mockReturnValue(undefined);
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    await rm(dataDir, { recursive: true, force: true });
  });

  /** A recording in progress. */
  async function begun() {
    const settings = { recordings: true, dataDir } as Settings;
    const files = new RecordingFiles(settings);
    const service = new RecordingsService(repository as RecordingsRepository, files, settings);
    const key = { id: randomUUID(), runId: randomUUID(), workspaceId: randomUUID() };
    const writer = (await service.begin(key))!;
    writer.audio(new Uint8Array(320));
    return { service, key, writer, paths: files.paths(key) };
  }

  /** A recording whose folder has become unusable: files in it can neither be completed nor deleted. */
  async function begunAndBroken() {
    const recording = await begun();
    const folder = path.dirname(recording.paths.sound);
    await rm(folder, { recursive: true });
    await writeFile(folder, '');
    return recording;
  }

  it('keeps the recording if the database is unavailable for a moment', async () => {
    const { service, key, writer, paths } = await begun();
    await expect(service.store(key, randomUUID(), writer)).resolves.toBe(true);
    expect((await readFile(paths.sound)).length).toBe(378);
  });

  it('ends without a recording, not with the loss of the result of the call', async () => {
    const { service, key, writer } = await begunAndBroken();
    await expect(service.store(key, randomUUID(), writer)).resolves.toBe(false);
  });

  it('discards a recording without an error', async () => {
    const { service, key, writer } = await begunAndBroken();
    await expect(service.discard(key, writer)).resolves.toBeUndefined();
  });
});
