/** A message to the client, flat. Those that the simulator sends are checked against the vendor's typings by a test. */
export interface ClientMessage {
  readonly type: string;
  readonly [field: string]: unknown;
}

export type Format = 'pcm_s16le' | 'mulaw';

export interface Timing {
  readonly type: 'word-alignment' | 'word-progress';
  readonly [field: string]: unknown;
}

export const toolCalls = (
  calls: readonly { readonly id: string; readonly name: string; readonly arguments: string }[],
): ClientMessage => ({
  type: 'tool-calls',
  toolCallList: calls.map(({ id, ...run }) => ({ id, type: 'function', function: run })),
  toolWithToolCallList: [],
});

/** The messages to the client, as its documentation has them. */
export const client = {
  started: (): ClientMessage => ({ type: 'assistant.started', newAssistant: { name: 'Bella Vista' } }),
  speech: (role: 'assistant' | 'user', status: 'started' | 'stopped', turn = 0): ClientMessage => ({
    type: 'speech-update',
    status,
    role,
    turn,
  }),
  transcript: (
    role: 'assistant' | 'user',
    transcript: string,
    transcriptType: 'partial' | 'final' = 'final',
  ): ClientMessage => ({ type: 'transcript', role, transcriptType, transcript }),
  model: (output: string, turnId = 'turn-1'): ClientMessage => ({ type: 'model-output', output, turnId }),
  voiceInput: (input: string): ClientMessage => ({ type: 'voice-input', input }),
  spoken: (text: string, turn = 0, timing?: Timing): ClientMessage => ({
    type: 'assistant.speechStarted',
    text,
    turn,
    source: 'model',
    ...(timing && { timing }),
  }),
  interrupted: (turnId = 'turn-1'): ClientMessage => ({ type: 'user-interrupted', turnId }),
  tools: (id: string, name: string, args: object = {}): ClientMessage =>
    toolCalls([{ id, name, arguments: JSON.stringify(args) }]),
  conversation: (content: string): ClientMessage => ({
    type: 'conversation-update',
    messagesOpenAIFormatted: [{ role: 'assistant', content }],
  }),
  hang: (): ClientMessage => ({ type: 'hang' }),
  ended: (endedReason: string): ClientMessage => ({ type: 'status-update', status: 'ended', endedReason }),
};

/** Whether the client ends the call with this message. */
export function isEndCall(data: string): boolean {
  try {
    return (JSON.parse(data) as { readonly type?: unknown } | null)?.type === 'end-call';
  } catch {
    return false;
  }
}

/** Words that are spoken evenly in a piece of audio, with entries of space between them. */
export function alignment(text: string, ms: number): Timing {
  const words = text.split(/( )/);
  const each = ms / text.length;
  const ends = words.map((_, index) => words.slice(0, index + 1).join('').length * each);
  return {
    type: 'word-alignment',
    words,
    wordsStartTimesMs: ends.map((end, index) => Math.round(end - words[index]!.length * each)),
    wordsEndTimesMs: ends.map((end) => Math.round(end)),
  };
}

export const progress = (wordsSpoken: number, totalWords: number): Timing => ({
  type: 'word-progress',
  wordsSpoken,
  totalWords,
});

/** A tone in a format of the platform. */
export function tone(ms: number, format: Format = 'pcm_s16le'): Buffer {
  const rate = format === 'mulaw' ? 8_000 : 16_000;
  const samples = Array.from({ length: Math.round((ms * rate) / 1_000) }, (_, n) =>
    Math.round(8_000 * Math.sin((2 * Math.PI * 440 * n) / rate)),
  );
  if (format === 'mulaw') return Buffer.from(samples.map(mulaw));
  const bytes = Buffer.alloc(2 * samples.length);
  for (const [n, sample] of samples.entries()) bytes.writeInt16LE(sample, 2 * n);
  return bytes;
}

export const silence = (ms: number, format: Format = 'pcm_s16le'): Buffer =>
  format === 'mulaw' ? Buffer.alloc(ms * 8, 0xff) : Buffer.alloc(ms * 32);

/** ITU-T G.711. */
function mulaw(sample: number): number {
  const sign = sample < 0 ? 0x80 : 0;
  const magnitude = Math.min(32_635, Math.abs(sample)) + 132;
  const exponent = Math.floor(Math.log2(magnitude)) - 7;
  return ~(sign | (exponent << 4) | ((magnitude >> (exponent + 3)) & 0x0f)) & 0xff;
}
