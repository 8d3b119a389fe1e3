import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Logger } from '@nestjs/common';
import type { Settings } from '../../platform/config/settings.js';
import { RecordingFiles, type RecordingPaths } from './recording-files.js';
import type { RecordingReadingsRepository } from './recording-readings.repository.js';
import { RecordingUploadsService } from './recording-uploads.service.js';
import { RecordingsService } from './recordings.service.js';
import type { RecordingsRepository } from './recordings.repository.js';

const RESULT = { outcome: 'passed' };
const interrupt = () => Promise.reject(new Error('interrupted'));

describe('RecordingsService', () => {
  let dataDir = '';
  const insert = jest.fn<Promise<boolean>, [object]>();
  const storedBytes = jest.fn(() => Promise.resolve(999));
  beforeEach(async () => {
    dataDir = await mkdtemp(path.join(tmpdir(), 'recordings-'));
    insert.mockReset().mockResolvedValue(true);
    for (const level of ['error', 'warn'] as const) jest.spyOn(Logger.prototype, level).mockReturnValue(undefined);
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    await rm(dataDir, { recursive: true, force: true });
  });

  /** Records an attempt. @param during what happens before it ends */
  function record({
    bytes = 320,
    during = () => Promise.resolve(),
    ...more
  }: Partial<Settings> & {
    bytes?: number;
    during?: (paths: RecordingPaths) => Promise<void>;
  } = {}) {
    const settings = { recordings: true, dataDir, ...more } as Settings;
    const files = new RecordingFiles(settings);
    const repository = { insert, storedBytes } as unknown as RecordingsRepository;
    const sent = {} as RecordingReadingsRepository;
    const service = new RecordingsService(repository, files, new RecordingUploadsService(settings), sent, settings);
    const key = { id: randomUUID(), runId: randomUUID(), workspaceId: randomUUID() };
    const paths = files.paths(key);
    const recorded = service.record(key, randomUUID(), 8_000, async (sink) => {
      sink?.audio(new Uint8Array(bytes));
      await during(paths);
      return RESULT;
    });
    return { recorded, paths };
  }

  /** Afterwards files in the folder can neither be completed nor deleted. */
  async function breakFolder(paths: RecordingPaths): Promise<void> {
    const folder = path.dirname(paths.audio);
    await rm(folder, { recursive: true });
    await writeFile(folder, '');
  }

  it('leaves neither a file nor a row of an attempt without audio', async () => {
    const { recorded, paths } = record({ bytes: 0 });
    await expect(recorded).resolves.toBe(RESULT);
    expect(await readdir(path.dirname(paths.audio))).toEqual([]);
    expect(insert).not.toHaveBeenCalled();
  });

  it('leaves neither a file nor a row of an interrupted attempt', async () => {
    const { recorded, paths } = record({ during: interrupt });
    await expect(recorded).rejects.toThrow('interrupted');
    expect(await readdir(path.dirname(paths.audio))).toEqual([]);
    expect(insert).not.toHaveBeenCalled();
  });

  it('leaves no file of an attempt that has lost its claim', async () => {
    insert.mockResolvedValue(false);
    const { recorded, paths } = record();
    await expect(recorded).resolves.toBe(RESULT);
    await expect(readdir(path.dirname(paths.audio))).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('keeps the recording if the database is unavailable for a moment', async () => {
    insert.mockRejectedValueOnce(Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }));
    const { recorded, paths } = record();
    await expect(recorded).resolves.toBe(RESULT);
    expect((await readFile(paths.audio)).length).toBe(378);
    expect(insert).toHaveBeenCalledTimes(2);
  });

  it('keeps the result of the call if the disk fails', async () => {
    await expect(record({ during: breakFolder }).recorded).resolves.toEqual({ ...RESULT, recordingOmitted: 'disk' });
    expect(insert).not.toHaveBeenCalled();
  });

  it('stores the sizes of all files', async () => {
    const { recorded, paths } = record();
    await recorded;
    const peaksBytes = (await readFile(paths.peaks)).length;
    expect(insert).toHaveBeenCalledWith(
      expect.objectContaining({ bytes: 320, wireBytes: 0, peaksBytes, factsBytes: 0 }),
    );
  });

  it('goes on without a recording where recordings are switched off, and says so', async () => {
    const { recorded } = record({ recordings: false });
    await expect(recorded).resolves.toEqual({ ...RESULT, recordingOmitted: 'off' });
    expect(await readdir(dataDir)).toEqual([]);
  });

  it('goes on without a recording when the workspace keeps as much as it may, and says so', async () => {
    const { recorded } = record({ recordingsBytesPerWorkspace: 999 });
    await expect(recorded).resolves.toEqual({ ...RESULT, recordingOmitted: 'quota' });
    expect(await readdir(dataDir)).toEqual([]);
    await expect(record({ recordingsBytesPerWorkspace: 1_000 }).recorded).resolves.toBe(RESULT);
  });

  it('reports why the call was interrupted, not that its recording cannot be deleted', async () => {
    const during = (paths: RecordingPaths) => breakFolder(paths).then(interrupt);
    await expect(record({ during }).recorded).rejects.toThrow('interrupted');
  });
});
