/**
 * The part of WASI preview 1 that flite needs, in memory: arguments, two streams and a few named files. Nothing of the
 * machine is reachable from inside: no file system, no clock, no environment. Because the clock is constant as well, a
 * program's output is a function of its arguments and files.
 * Source of numbers and layouts: the WASI preview 1 specification (`wasi_snapshot_preview1`).
 */

export interface WasiRun {
  /** Arguments after the program's name. */
  readonly args: readonly string[];
  /** Files that the program may read, by absolute path. */
  readonly inputs?: Readonly<Record<string, Uint8Array>>;
  /** Absolute paths of the files that the program may write. */
  readonly outputs?: readonly string[];
}

export interface WasiResult {
  readonly exitCode: number;
  /** Standard output and error output, decoded as UTF-8. */
  readonly stdout: string;
  readonly stderr: string;
  readonly files: ReadonlyMap<string, Uint8Array>;
}

const ERRNO = { success: 0, badFile: 8, invalid: 28, noEntry: 44, notSeekable: 70 } as const;
const FILE_TYPE = { characterDevice: 2, directory: 3, regularFile: 4 } as const;
const OPEN_TRUNCATE = 8;
const FD_APPEND = 1;
const ROOT = 3;
const ALL_RIGHTS = 0xffff_ffff_ffff_ffffn;

/** A program that writes without end must not take the memory of the thread. */
const MAX_FILE_BYTES = 256 * 1024 * 1024;

class ProgramExit extends Error {
  constructor(readonly code: number) {
    super(`The program ended with code ${code}`);
  }
}

/** A growing file. */
class MemoryFile {
  size: number;

  constructor(private buffer: Uint8Array = new Uint8Array()) {
    this.size = buffer.length;
  }

  get content(): Uint8Array {
    return this.buffer.subarray(0, this.size);
  }

  truncate(): void {
    this.size = 0;
  }

  write(position: number, bytes: Uint8Array): void {
    const end = position + bytes.length;
    if (end > MAX_FILE_BYTES) throw new Error(`The program wrote more than ${MAX_FILE_BYTES} bytes`);
    if (end > this.buffer.length) {
      const larger = new Uint8Array(Math.max(end, this.buffer.length * 2, 4096));
      larger.set(this.content);
      this.buffer = larger;
    }
    if (position > this.size) this.buffer.fill(0, this.size, position);
    this.buffer.set(bytes, position);
    this.size = Math.max(this.size, end);
  }
}

interface OpenFile {
  readonly file: MemoryFile;
  readonly isStream: boolean;
  readonly append: boolean;
  position: number;
}

/**
 * Runs a WASI command from its start to its exit, synchronously.
 *
 * @throws WebAssembly.RuntimeError if the program traps, for instance because it called `abort`
 */
export function runWasi(module: WebAssembly.Module, run: WasiRun): WasiResult {
  const process = new WasiProcess(run);
  const instance = new WebAssembly.Instance(module, { wasi_snapshot_preview1: process.imports });
  process.memory = instance.exports['memory'] as WebAssembly.Memory;
  return process.run(instance.exports['_start'] as () => void);
}

class WasiProcess {
  memory!: WebAssembly.Memory;
  private readonly args: readonly Uint8Array[];
  private readonly inputs: ReadonlyMap<string, MemoryFile>;
  private readonly outputs: ReadonlyMap<string, MemoryFile>;
  private readonly open = new Map<number, OpenFile>();

  constructor({ args, inputs = {}, outputs = [] }: WasiRun) {
    this.args = ['program', ...args].map((arg) => new TextEncoder().encode(`${arg}\0`));
    this.inputs = new Map(Object.entries(inputs).map(([path, content]) => [path, new MemoryFile(content)]));
    this.outputs = new Map(outputs.map((path) => [path, new MemoryFile()]));
    for (const stream of [0, 1, 2]) {
      this.open.set(stream, { file: new MemoryFile(), isStream: true, append: true, position: 0 });
    }
  }

  run(start: () => void): WasiResult {
    let exitCode = 0;
    try {
      start();
    } catch (error) {
      if (!(error instanceof ProgramExit)) throw error;
      exitCode = error.code;
    }
    return {
      exitCode,
      stdout: this.streamText(1),
      stderr: this.streamText(2),
      files: new Map([...this.outputs].map(([path, file]) => [path, file.content])),
    };
  }

  /** The functions by their names in the specification. */
  readonly imports: Record<string, (...args: never[]) => number> = {
    args_sizes_get: (count: number, size: number) => {
      this.setU32(count, this.args.length);
      this.setU32(
        size,
        this.args.reduce((sum, arg) => sum + arg.length, 0),
      );
      return ERRNO.success;
    },
    args_get: (pointers: number, buffer: number) => {
      let at = buffer;
      this.args.forEach((arg, index) => {
        this.setU32(pointers + index * 4, at);
        this.bytes(at, arg.length).set(arg);
        at += arg.length;
      });
      return ERRNO.success;
    },
    clock_time_get: (_clock: number, _precision: bigint, time: number) => {
      this.view.setBigUint64(time, 0n, true);
      return ERRNO.success;
    },
    fd_prestat_get: (fd: number, prestat: number) => {
      if (fd !== ROOT) return ERRNO.badFile;
      this.setU32(prestat, 0);
      this.setU32(prestat + 4, 1);
      return ERRNO.success;
    },
    fd_prestat_dir_name: (fd: number, path: number, length: number) => {
      if (fd !== ROOT || length < 1) return ERRNO.badFile;
      this.bytes(path, 1).set([0x2f]);
      return ERRNO.success;
    },
    fd_fdstat_get: (fd: number, stat: number) => {
      const type = this.fileType(fd);
      if (type === undefined) return ERRNO.badFile;
      this.bytes(stat, 24).fill(0);
      this.view.setUint8(stat, type);
      this.view.setBigUint64(stat + 8, ALL_RIGHTS, true);
      this.view.setBigUint64(stat + 16, ALL_RIGHTS, true);
      return ERRNO.success;
    },
    fd_fdstat_set_flags: (fd: number) => (this.open.has(fd) ? ERRNO.success : ERRNO.badFile),
    path_open: (
      _directory: number,
      _lookup: number,
      path: number,
      pathLength: number,
      openFlags: number,
      _rights: bigint,
      _inherited: bigint,
      fdFlags: number,
      fd: number,
    ) => {
      const name = `/${new TextDecoder().decode(this.bytes(path, pathLength)).replace(/^\/+/, '')}`;
      const file = this.outputs.get(name) ?? this.inputs.get(name);
      if (!file) return ERRNO.noEntry;
      if (openFlags & OPEN_TRUNCATE) file.truncate();
      const number = Math.max(ROOT, ...this.open.keys()) + 1;
      this.open.set(number, { file, isStream: false, append: (fdFlags & FD_APPEND) !== 0, position: 0 });
      this.setU32(fd, number);
      return ERRNO.success;
    },
    fd_close: (fd: number) => (this.open.delete(fd) ? ERRNO.success : ERRNO.badFile),
    fd_seek: (fd: number, offset: bigint, whence: number, position: number) => {
      const target = this.open.get(fd);
      if (!target) return ERRNO.badFile;
      if (target.isStream) return ERRNO.notSeekable;
      const from = [0, target.position, target.file.size][whence];
      if (from === undefined || from + Number(offset) < 0) return ERRNO.invalid;
      target.position = from + Number(offset);
      this.view.setBigUint64(position, BigInt(target.position), true);
      return ERRNO.success;
    },
    fd_read: (fd: number, vectors: number, count: number, size: number) => {
      const source = this.open.get(fd);
      if (!source) return ERRNO.badFile;
      let read = 0;
      for (const target of this.vectors(vectors, count)) {
        const part = source.file.content.subarray(source.position, source.position + target.length);
        target.set(part);
        source.position += part.length;
        read += part.length;
      }
      this.setU32(size, read);
      return ERRNO.success;
    },
    fd_write: (fd: number, vectors: number, count: number, size: number) => {
      const target = this.open.get(fd);
      if (!target) return ERRNO.badFile;
      let written = 0;
      for (const part of this.vectors(vectors, count)) {
        if (target.append) target.position = target.file.size;
        target.file.write(target.position, part);
        target.position += part.length;
        written += part.length;
      }
      this.setU32(size, written);
      return ERRNO.success;
    },
    proc_exit: (code: number) => {
      throw new ProgramExit(code);
    },
  };

  // A new view each time: growing the memory detaches the buffer.
  private get view(): DataView {
    return new DataView(this.memory.buffer);
  }

  private bytes(at: number, length: number): Uint8Array {
    return new Uint8Array(this.memory.buffer, at, length);
  }

  private setU32(at: number, value: number): void {
    this.view.setUint32(at, value, true);
  }

  private vectors(at: number, count: number): Uint8Array[] {
    const { view } = this;
    return Array.from({ length: count }, (_, index) =>
      this.bytes(view.getUint32(at + index * 8, true), view.getUint32(at + index * 8 + 4, true)),
    );
  }

  private fileType(fd: number): number | undefined {
    if (fd === ROOT) return FILE_TYPE.directory;
    const file = this.open.get(fd);
    return file && (file.isStream ? FILE_TYPE.characterDevice : FILE_TYPE.regularFile);
  }

  private streamText(fd: number): string {
    return new TextDecoder().decode(this.open.get(fd)?.file.content);
  }
}
