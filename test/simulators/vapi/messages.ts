import type { AudioFormat } from '../../../libs/audio/index.js';

/** Audio formats of a call, as it is created with them. */
export const CALL_FORMATS = {
  pcm_s16le: { encoding: 'pcm16', rate: 16_000 },
  mulaw: { encoding: 'mulaw', rate: 8_000 },
} as const satisfies Readonly<Record<string, AudioFormat>>;
export type CallFormat = keyof typeof CALL_FORMATS;

/** Messages of the platform, as text: flat. */
const message = (type: string, fields: object = {}): string => JSON.stringify({ type, ...fields });

export const started = (): string => message('assistant.started', { newAssistant: { name: 'Bella Vista' } });

export const speech = (role: 'assistant' | 'user', status: 'started' | 'stopped', turn: number): string =>
  message('speech-update', { status, role, turn });

/** The words of an answer as a model generates them. */
export const tokens = (turnId: string, text: string): string[] =>
  (text.match(/\s*\S{1,6}/g) ?? []).map((output) => message('model-output', { output, turnId }));

export const transcript = (role: 'assistant' | 'user', words: string): string =>
  message('transcript', { role, transcriptType: 'final', transcript: words });

export const interrupted = (turnId: string): string => message('user-interrupted', { turnId });

export const tools = (calls: readonly { readonly id: string; readonly name: string; readonly arguments: string }[]) =>
  message('tool-calls', {
    toolCallList: calls.map(({ id, ...run }) => ({ id, type: 'function', function: run })),
    toolWithToolCallList: [],
  });

export const ended = (endedReason: string): string => message('status-update', { status: 'ended', endedReason });

/** A message without the fields that it must have. */
export const broken = (): string => message('transcript', { role: 'assistant' });

export function isEndCall(data: string): boolean {
  try {
    return (JSON.parse(data) as { readonly type?: unknown } | null)?.type === 'end-call';
  } catch {
    return false;
  }
}
