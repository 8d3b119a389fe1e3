import { styleText } from 'node:util';

export type Style = 'red' | 'green' | 'yellow' | 'dim' | 'bold';
/** Gives a text a colour, or leaves it. */
export type Paint = (style: Style, text: string) => string;

export interface Terminal {
  readonly isTTY?: boolean;
}

/** Whether escape sequences may be written: never to a log unless FORCE_COLOR asks for them; NO_COLOR rules it out. */
export function hasColour(stream: Terminal, env: NodeJS.ProcessEnv): boolean {
  if (env['NO_COLOR']) return false;
  if (env['FORCE_COLOR']) return env['FORCE_COLOR'] !== '0' && env['FORCE_COLOR'] !== 'false';
  return stream.isTTY === true && env['TERM'] !== 'dumb';
}

export const painter = (stream: Terminal, env: NodeJS.ProcessEnv): Paint =>
  hasColour(stream, env) ? (style, text) => styleText(style, text) : (_, text) => text;

export const styleOf = (outcome: string | null): Style =>
  outcome === 'passed' ? 'green' : outcome === 'failed' ? 'red' : outcome === 'pending' ? 'dim' : 'yellow';
