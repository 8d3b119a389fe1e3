/** A thread of `OwnedThreads`; starts with its first call, and again with the next one if it ended by itself. */
export interface OwnedThread {
  /** Of its heap and buffers; 0 if it does not run. */
  memoryBytes(): Promise<number>;
  /** Ends it, and the calls in progress. */
  close(): Promise<void>;
}

export interface OwnedThreadsOptions<T> {
  readonly start: () => T;
  /** Maximum number of threads. */
  readonly most: number;
  /** Calls of a thread from which on its owner gets a further one. */
  readonly callsEach?: number;
  /** How long a thread keeps its owner after its last call, in milliseconds. */
  readonly idleMs?: number;
}

interface Slot<T> {
  readonly thread: T;
  owner: string | undefined;
  calls: number;
  expiry?: NodeJS.Timeout;
}

/**
 * Threads in which calls of one owner do not delay those of another one, as long as there are enough threads: an owner gets at
 * most half of them, so that a second one finds one. Beyond, threads are shared. Nothing waits for a thread.
 */
export class OwnedThreads<T extends OwnedThread> {
  most: number;
  private slots: Slot<T>[] = [];

  constructor(private readonly options: OwnedThreadsOptions<T>) {
    this.most = options.most;
  }

  /** Runs a call with a thread. @throws the signal's reason, if it is aborted before, or what the call throws */
  async use<R>(owner: string, signal: AbortSignal, call: (thread: T) => Promise<R>): Promise<R> {
    signal.throwIfAborted();
    const slot = this.place(owner);
    clearTimeout(slot.expiry);
    slot.owner ??= owner;
    slot.calls++;
    try {
      return await call(slot.thread);
    } finally {
      const { idleMs = 60_000 } = this.options;
      if (--slot.calls === 0) slot.expiry = setTimeout(() => this.release(slot), idleMs).unref();
    }
  }

  get threads(): readonly T[] {
    return this.slots.map(({ thread }) => thread);
  }

  /** Number of calls in progress. */
  get calls(): number {
    return this.slots.reduce((sum, { calls }) => sum + calls, 0);
  }

  /** Of all threads. Waits while one of them is blocked. */
  async memoryBytes(): Promise<number> {
    const each = await Promise.all(this.threads.map((thread) => thread.memoryBytes()));
    return each.reduce((sum, bytes) => sum + bytes, 0);
  }

  /** Ends all threads; the next call starts another. */
  async close(): Promise<void> {
    const { threads } = this;
    for (const { expiry } of this.slots) clearTimeout(expiry);
    this.slots = [];
    await Promise.all(threads.map((thread) => thread.close()));
  }

  private place(owner: string): Slot<T> {
    const { callsEach = 60 } = this.options;
    const own = this.slots.filter((slot) => slot.owner === owner);
    const best = leastLoaded(own);
    if (best && best.calls < callsEach) return best;
    const further = own.length < this.most / 2 ? (this.ownerless ?? this.start()) : undefined;
    return further ?? best ?? leastLoaded(this.slots)!;
  }

  private get ownerless(): Slot<T> | undefined {
    return this.slots.find((slot) => slot.owner === undefined);
  }

  private start(): Slot<T> | undefined {
    if (this.slots.length >= this.most) return undefined;
    const slot: Slot<T> = { thread: this.options.start(), owner: undefined, calls: 0 };
    this.slots.push(slot);
    return slot;
  }

  /** Keeps one thread for the next owner, because starting one takes time. */
  private release(slot: Slot<T>): void {
    if (!this.slots.includes(slot)) return;
    if (!this.ownerless) return void (slot.owner = undefined);
    this.slots = this.slots.filter((other) => other !== slot);
    void slot.thread.close();
  }
}

const leastLoaded = <T>(slots: readonly Slot<T>[]): Slot<T> | undefined =>
  slots.reduce<Slot<T> | undefined>((least, slot) => (least && least.calls <= slot.calls ? least : slot), undefined);
