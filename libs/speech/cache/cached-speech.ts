import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Sound, SpeechEngine, SpeechRequest } from '../sound.js';
import { untilAborted } from '../until-aborted.js';
import { SoundFolder } from './sound-folder.js';

export interface CachedSpeechOptions {
  readonly folder: string;
  /** Limit of the files together; 512 MiB (nine hours of speech) unless given. */
  readonly maxFileBytes?: number;
  /** Limit of the samples in memory; 32 MiB unless given. */
  readonly maxMemoryBytes?: number;
  /** A file could not be read or written; the sound was synthesised nevertheless. */
  readonly onFileError?: (error: unknown) => void;
  /** Called with the time that the engine took for a sound that was not cached, or until it failed. */
  readonly onSynthesis?: (ms: number) => void;
}

const MIB = 1024 * 1024;

/** A synthesis in progress. It is cancelled when nothing waits for it any more. */
interface Shared {
  readonly sound: Promise<Sound>;
  readonly controller: AbortController;
  waiting: number;
}

/**
 * An engine whose sounds are kept in memory and in files, so that a line is synthesised once ever. Simultaneous requests for
 * the same sound share one synthesis.
 */
export class CachedSpeech implements SpeechEngine {
  readonly name: string;
  readonly version: string;
  private readonly files: SoundFolder;
  private readonly memory: LRUCache<string, Sound>;
  private readonly shared = new Map<string, Shared>();
  private readonly onFileError: (error: unknown) => void;
  private readonly onSynthesis: (ms: number) => void;

  constructor(
    private readonly engine: SpeechEngine,
    { folder, maxFileBytes = 512 * MIB, maxMemoryBytes = 32 * MIB, ...events }: CachedSpeechOptions,
  ) {
    this.name = engine.name;
    this.version = engine.version;
    this.files = new SoundFolder(folder, maxFileBytes);
    this.memory = new LRUCache({ maxSize: maxMemoryBytes, sizeCalculation: ({ pcm }) => pcm.byteLength + 1 });
    this.onFileError = events.onFileError ?? (() => undefined);
    this.onSynthesis = events.onSynthesis ?? (() => undefined);
  }

  async synthesise(request: SpeechRequest, signal?: AbortSignal): Promise<Sound> {
    signal?.throwIfAborted();
    const key = this.keyOf(request);
    const sound = this.memory.get(key) ?? (await this.share(key, request, signal));
    // A copy, since the receiver may transfer its samples to another thread.
    return { ...sound, pcm: sound.pcm.slice() };
  }

  private keyOf({ text, voice, rate = 1 }: SpeechRequest): string {
    const content = JSON.stringify([this.engine.name, this.engine.version, text, voice, rate]);
    return createHash('sha256').update(content).digest('hex');
  }

  private async share(key: string, request: SpeechRequest, signal: AbortSignal | undefined): Promise<Sound> {
    // One owner does not wait in the queue of another.
    const sharedKey = `${key} ${request.owner ?? ''}`;
    const shared = this.shared.get(sharedKey) ?? this.begin(sharedKey, key, request);
    shared.waiting++;
    try {
      return await untilAborted(shared.sound, signal);
    } finally {
      if (--shared.waiting === 0) {
        // The next request must not join what is being cancelled.
        if (this.shared.get(sharedKey) === shared) this.shared.delete(sharedKey);
        shared.controller.abort();
      }
    }
  }

  private begin(sharedKey: string, key: string, request: SpeechRequest): Shared {
    const controller = new AbortController();
    const shared = { controller, sound: this.load(key, request, controller.signal), waiting: 0 };
    this.shared.set(sharedKey, shared);
    return shared;
  }

  private async load(key: string, request: SpeechRequest, signal: AbortSignal): Promise<Sound> {
    const stored = await this.files.read(key).catch((error: unknown) => {
      this.onFileError(error);
      return undefined;
    });
    const sound = stored ?? (await this.synthesised(request, signal));
    this.memory.set(key, sound);
    if (!stored) await this.files.write(key, sound).catch((error: unknown) => this.onFileError(error));
    return sound;
  }

  private async synthesised(request: SpeechRequest, signal: AbortSignal): Promise<Sound> {
    const begun = performance.now();
    try {
      return await this.engine.synthesise(request, signal);
    } finally {
      if (!signal.aborted) this.onSynthesis(performance.now() - begun);
    }
  }
}
