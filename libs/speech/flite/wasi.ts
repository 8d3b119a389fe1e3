import { ConsoleStdout, File, OpenFile, PreopenDirectory, WASI } from '@bjorn3/browser_wasi_shim';

export interface WasiRun {
  /** Arguments after the program's name; ASCII. */
  readonly args: readonly string[];
  /** Files of the root directory that the program may read, by name. */
  readonly inputs?: Readonly<Record<string, Uint8Array>>;
  /** Names of the files of the root directory that the program may write. */
  readonly outputs?: readonly string[];
}

export interface WasiResult {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly files: ReadonlyMap<string, Uint8Array>;
}

/**
 * Runs a WASI command in memory, from its start to its exit, synchronously. It has no environment and its clock is constant, so
 * that its output is a function of its arguments and files.
 *
 * @throws WebAssembly.RuntimeError if the program traps, for instance because it called `abort`
 */
export function runWasi(module: WebAssembly.Module, { args, inputs = {}, outputs = [] }: WasiRun): WasiResult {
  const written = new Map(outputs.map((name) => [name, new File([])]));
  const read = Object.entries(inputs).map(([name, content]) => [name, new File(content, { readonly: true })] as const);
  const [stdout, stderr] = [new TextStream(), new TextStream()];
  const root = new PreopenDirectory('/', new Map([...written, ...read]));
  const wasi = new WASI(['program', ...args], [], [new OpenFile(new File([])), stdout, stderr, root], { debug: false });
  const imports = {
    ...wasi.wasiImport,
    clock_time_get: (_clock: number, _precision: bigint, time: number) => {
      new DataView(exports.memory.buffer).setBigUint64(time, 0n, true);
      return 0;
    },
  };
  const instance = new WebAssembly.Instance(module, { wasi_snapshot_preview1: imports });
  const exports = instance.exports as { memory: WebAssembly.Memory; _start: () => void };
  const exitCode = wasi.start({ exports });
  const files = new Map([...written].map(([name, { data }]) => [name, data]));
  return { exitCode, stdout: stdout.text, stderr: stderr.text, files };
}

class TextStream extends ConsoleStdout {
  text = '';

  constructor() {
    const decoder = new TextDecoder();
    super((bytes) => void (this.text += decoder.decode(bytes, { stream: true })));
  }
}
