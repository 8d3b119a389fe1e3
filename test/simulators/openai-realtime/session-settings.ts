import type { AudioFormat } from '../../../libs/audio/index.js';
import type { AudioFormats } from './events.js';

type Fields = Readonly<Record<string, unknown>>;

/** What the agent needs of the session that the client has configured. */
export class SessionSettings {
  private session: Fields = { type: 'realtime', object: 'realtime.session', output_modalities: ['audio'] };

  constructor(id: string) {
    this.session = { ...this.session, id };
  }

  update(session: unknown): void {
    this.session = merged(this.session, fieldsOf(session));
  }

  /** The whole configuration, as the server sends it back. */
  get all(): Fields {
    return this.session;
  }

  get toAgent(): AudioFormat {
    return formatOf(fieldsOf(fieldsOf(this.session['audio'])['input'])['format']);
  }

  get fromAgent(): AudioFormat {
    return formatOf(fieldsOf(fieldsOf(this.session['audio'])['output'])['format']);
  }

  /** Whether the client wants to know what was understood of the caller. */
  get transcribes(): boolean {
    const { transcription } = fieldsOf(fieldsOf(this.session['audio'])['input']);
    return transcription !== undefined && transcription !== null;
  }

  /** Functions that the client runs. */
  get functions(): ReadonlySet<string> {
    const { tools } = this.session;
    const names = (Array.isArray(tools) ? tools : []).map((tool) => fieldsOf(tool)['name']);
    // The agent says goodbye before it hangs up, and waits for no result.
    return new Set(names.filter((name): name is string => typeof name === 'string' && name !== 'end_call'));
  }
}

/** 16-bit PCM at 24 kHz is the default of the API. */
function formatOf(format: unknown): AudioFormat {
  const { type } = fieldsOf(format) as Partial<AudioFormats>;
  if (type === 'audio/pcmu') return { encoding: 'mulaw', rate: 8_000 };
  if (type === 'audio/pcma') return { encoding: 'alaw', rate: 8_000 };
  return { encoding: 'pcm16', rate: 24_000 };
}

function merged(base: Fields, over: Fields): Fields {
  const result: Record<string, unknown> = { ...base };
  for (const [name, value] of Object.entries(over)) {
    const [before, after] = [fieldsOf(base[name]), fieldsOf(value)];
    result[name] = isFields(base[name]) && isFields(value) ? merged(before, after) : value;
  }
  return result;
}

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const fieldsOf = (value: unknown): Fields => (isFields(value) ? value : {});
