/** A message of RTVI. */
export interface Rtvi {
  readonly label: 'rtvi-ai';
  readonly type: string;
  readonly id?: string;
  readonly data?: Readonly<Record<string, any>>;
}

/** A frame of the client, as the double reads it. */
export type ClientFrame =
  | {
      readonly kind: 'audio';
      readonly pcm: Buffer;
      readonly rate: number;
      readonly channels: number;
      readonly name: string;
    }
  | { readonly kind: 'message'; readonly message: Rtvi };

/** The members of `Frame` that a bot sends, by their numbers in `frames.proto`. */
const NUMBERS = { text: 1, audio: 2, transcription: 3, message: 4, interruption: 5 } as const;

/** A number in base 128, the lowest digit first; also beyond 32 bits. */
export function number(value: bigint | number): Buffer {
  const digits: number[] = [];
  let rest = BigInt(value);
  do {
    digits.push(Number(rest % 128n));
    rest /= 128n;
  } while (rest > 0n);
  return Buffer.from(digits.map((digit, index) => (index < digits.length - 1 ? digit + 128 : digit)));
}

export const numeric = (field: number, value: bigint | number): Buffer =>
  Buffer.concat([number(field * 8), number(value)]);
export const bytes = (field: number, value: Uint8Array | string): Buffer =>
  Buffer.concat([number(field * 8 + 2), number(Buffer.byteLength(value)), Buffer.from(value)]);

export const frame = (kind: keyof typeof NUMBERS, ...fields: readonly Buffer[]): Buffer =>
  bytes(NUMBERS[kind], Buffer.concat(fields));

/** As Python names its frames, though it numbers them; so every call has the same bytes. */
const head = (name: string): Buffer[] => [numeric(1, 4_242), bytes(2, `${name}#42`)];

export const bot = {
  audio: (pcm: Uint8Array, rate = 24_000, channels = 1): Buffer =>
    frame('audio', ...head('OutputAudioRawFrame'), bytes(3, pcm), numeric(4, rate), numeric(5, channels)),
  interruption: (): Buffer => frame('interruption', ...head('InterruptionFrame')),
  text: (text: string): Buffer => frame('text', ...head('TextFrame'), bytes(3, text)),
  transcription: (text: string): Buffer =>
    frame('transcription', ...head('TranscriptionFrame'), bytes(3, text), bytes(4, 'user'), bytes(5, '2026-11-30')),
  message: (message: Rtvi | string): Buffer =>
    frame('message', bytes(1, typeof message === 'string' ? message : JSON.stringify(message))),
};

const rtvi = (type: string, data?: object): Rtvi => ({ label: 'rtvi-ai', type, ...(data && { data }) });

/** Messages of a bot, as Pipecat's `RTVIObserver` and `RTVIProcessor` send them. */
export const says = {
  ready: (version = '2.1.0'): Rtvi => ({
    ...rtvi('bot-ready', { version, about: { library: 'pipecat-ai' } }),
    id: 'vat-client-ready',
  }),
  started: (): Rtvi => rtvi('bot-started-speaking'),
  stopped: (): Rtvi => rtvi('bot-stopped-speaking'),
  /** @param spoken how much of it has been spoken */
  output: (text: string, segment_id: number, spoken = '', aggregated_by = 'sentence'): Rtvi =>
    rtvi('bot-output', {
      ...{ text, aggregated_by, segment_id, spoken: false, will_be_spoken: true },
      spoken_status: spoken === '' ? 'new' : spoken === text ? 'completed' : 'in-progress',
      spoken_progress: { accumulated_text: spoken, remaining_text: text.slice(spoken.length) },
    }),
  /** Of RTVI 1. */
  outputOf1: (text: string, spoken: boolean, aggregated_by = 'sentence'): Rtvi =>
    rtvi('bot-output', { text, spoken, aggregated_by }),
  transcription: (text: string): Rtvi => rtvi('bot-transcription', { text }),
  heard: (text: string, final = true): Rtvi =>
    rtvi('user-transcription', { text, user_id: '', timestamp: '2026-11-30T10:00:00', final }),
  callerStarted: (): Rtvi => rtvi('user-started-speaking'),
  callStarted: (function_name?: string): Rtvi =>
    rtvi('llm-function-call-started', function_name ? { function_name } : {}),
  call: (tool_call_id: string, function_name?: string, args?: object): Rtvi =>
    rtvi('llm-function-call-in-progress', {
      tool_call_id,
      ...(function_name !== undefined && { function_name }),
      ...(args && { arguments: args }),
    }),
  callStopped: (tool_call_id: string, result?: unknown): Rtvi =>
    rtvi('llm-function-call-stopped', { tool_call_id, cancelled: false, ...(result !== undefined && { result }) }),
  error: (error: string, fatal = false): Rtvi => rtvi('error', { error, fatal }),
  refused: (error: string): Rtvi => ({ ...rtvi('error-response', { error }), id: 'vat-dtmf' }),
  interrupted: (): Rtvi => rtvi('bot-interrupted'),
  metrics: (): Rtvi => rtvi('metrics', { ttfb: [{ processor: 'OpenAILLMService#0', value: 0.3 }] }),
};

/** Reads the fields of a message, strictly. @throws Error for anything that a client must not send */
function fieldsOf(data: Buffer): Map<number, number | Buffer> {
  const fields = new Map<number, number | Buffer>();
  let at = 0;
  const next = (): number => {
    let [value, factor] = [0, 1];
    for (;;) {
      const byte = data.readUInt8(at++);
      value += (byte % 128) * factor;
      if (byte < 128) return value;
      factor *= 128;
    }
  };
  while (at < data.length) {
    const key = next();
    const field = Math.floor(key / 8);
    if (fields.has(field)) throw new Error(`Field ${field} comes twice`);
    if (key % 8 === 0) fields.set(field, next());
    else if (key % 8 === 2) {
      const length = next();
      if (at + length > data.length) throw new Error('The message is cut off');
      fields.set(field, data.subarray(at, (at += length)));
    } else throw new Error(`Field ${field} has the kind ${key % 8}`);
  }
  return fields;
}

export function readClientFrame(data: string | Uint8Array): ClientFrame {
  if (typeof data === 'string') throw new Error('The client sent text');
  const members = [...fieldsOf(Buffer.from(data))];
  const [member, content] = members[0] ?? [];
  if (members.length !== 1 || !(content instanceof Buffer)) throw new Error('A frame has one member');
  const fields = fieldsOf(content);
  if (member === NUMBERS.message) return { kind: 'message', message: JSON.parse(String(fields.get(1))) as Rtvi };
  if (member !== NUMBERS.audio) throw new Error(`The client sent member ${member}`);
  return {
    ...{ kind: 'audio', pcm: fields.get(3) as Buffer, name: String(fields.get(2)) },
    ...{ rate: Number(fields.get(4)), channels: Number(fields.get(5)) },
  };
}

/** A tone as 16-bit PCM. */
export function tone(ms: number, rate = 24_000): Buffer {
  const pcm = Buffer.alloc(2 * Math.round((ms * rate) / 1_000));
  for (let n = 0; 2 * n < pcm.length; n++) {
    pcm.writeInt16LE(Math.round(8_000 * Math.sin((2 * Math.PI * 440 * n) / rate)), 2 * n);
  }
  return pcm;
}

/** A tone in frames of 40 ms, as the transport cuts audio. */
export const toneFrames = (ms: number, rate = 24_000): Buffer[] =>
  Array.from({ length: Math.ceil(ms / 40) }, (_, n) => bot.audio(tone(Math.min(40, ms - n * 40), rate), rate));
