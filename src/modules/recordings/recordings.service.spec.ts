import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Logger } from '@nestjs/common';
import type { Settings } from '../../platform/config/settings.js';
import { RecordingFiles } from './recording-files.js';
import { RecordingsService } from './recordings.service.js';
import type { RecordingsRepository } from './recordings.repository.js';

describe('RecordingsService on a disk that fails in the middle of a call', () => {
  let dataDir = '';
  beforeEach(async () => {
    dataDir = await mkdtemp(path.join(tmpdir(), 'recordings-'));
    for (const level of ['error', 'warn'] as const) jest.spyOn(Logger.prototype, level).mockReturnValue(undefined);
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    await rm(dataDir, { recursive: true, force: true });
  });

  /** A recording in progress whose folder has become unusable: files in it can neither be completed nor deleted. */
  async function begun() {
    const settings = { recordings: true, dataDir } as Settings;
    const files = new RecordingFiles(settings);
    const repository = { insert: () => Promise.resolve(true) } as unknown as RecordingsRepository;
    const service = new RecordingsService(repository, files, settings);
    const key = { id: randomUUID(), runId: randomUUID(), workspaceId: randomUUID() };
    const writer = (await service.begin(key))!;
    writer.audio(new Uint8Array(320));
    const folder = path.dirname(files.paths(key).sound);
    await rm(folder, { recursive: true });
    await writeFile(folder, '');
    return { service, key, writer };
  }

  it('ends without a recording, not with the loss of the result of the call', async () => {
    const { service, key, writer } = await begun();
    await expect(service.store(key, randomUUID(), writer)).resolves.toBe(false);
  });

  it('discards a recording without an error', async () => {
    const { service, key, writer } = await begun();
    await expect(service.discard(key, writer)).resolves.toBeUndefined();
  });
});
