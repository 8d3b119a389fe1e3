import { styleText } from 'node:util';

export type Style = 'red' | 'green' | 'yellow' | 'dim' | 'bold';
/** Colours a text, or returns it unchanged. */
export type Paint = (style: Style, text: string) => string;

export interface Terminal {
  readonly isTTY?: boolean;
}

/** Whether to write colours: on terminals, unless NO_COLOR is set; FORCE_COLOR enables them elsewhere. */
export function hasColour(stream: Terminal, env: NodeJS.ProcessEnv): boolean {
  if (env['NO_COLOR']) return false;
  if (env['FORCE_COLOR']) return env['FORCE_COLOR'] !== '0' && env['FORCE_COLOR'] !== 'false';
  return stream.isTTY === true && env['TERM'] !== 'dumb';
}

export const painter = (stream: Terminal, env: NodeJS.ProcessEnv): Paint =>
  hasColour(stream, env) ? (style, text) => styleText(style, text) : (_, text) => text;

export const styleOf = (outcome: string | null): Style =>
  outcome === 'passed' ? 'green' : outcome === 'failed' ? 'red' : outcome === 'pending' ? 'dim' : 'yellow';
