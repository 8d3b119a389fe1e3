/** The part of the WebAssembly API that is used here; TypeScript declares it only together with the whole browser. */
declare namespace WebAssembly {
  class Module {
    private readonly brand;
    constructor(bytes: Uint8Array);
  }

  class Instance {
    constructor(module: Module, imports: Record<string, Record<string, (...args: never[]) => unknown>>);
    readonly exports: Record<string, unknown>;
  }

  interface Memory {
    readonly buffer: ArrayBuffer;
  }
}
