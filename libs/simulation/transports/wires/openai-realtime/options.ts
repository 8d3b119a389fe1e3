import { LINE_RATES, type LineRate, TELEPHONE_RATE } from '../../../../audio/index.js';
import type { AgentEndpoint } from '../../modules/endpoint.js';
import type { ProtocolOption } from '../../modules/module.js';

const MAX_SESSION = 64 * 1024;

type Fields = Readonly<Record<string, unknown>>;

/** Options of `openai-realtime`. */
export const REALTIME_OPTIONS = {
  session: {
    isSecret: false,
    description: 'object: merged into the `session` of the first `session.update`',
    violation: sessionViolation,
  },
  line: {
    isSecret: false,
    description: '`telephone` (default): µ-law at 8 kHz; `wide`: 16-bit PCM at 24 kHz',
    violation: (value) => (value === 'telephone' || value === 'wide' ? undefined : 'must be telephone or wide'),
  },
} as const satisfies Readonly<Record<string, ProtocolOption>>;

export const lineRateOf = ({ line }: AgentEndpoint['options']): LineRate =>
  line === 'wide' ? LINE_RATES[LINE_RATES.length - 1]! : TELEPHONE_RATE;

/** The `session` of the first `session.update`. */
export function sessionOf({ line, session }: AgentEndpoint['options']): object {
  const format = line === 'wide' ? { type: 'audio/pcm', rate: 24_000 } : { type: 'audio/pcmu' };
  return merged(
    { type: 'realtime', output_modalities: ['audio'], audio: { input: { format }, output: { format } } },
    fieldsOf(session),
  );
}

/** The same for a server that has the fields of the version before general availability, and refuses the present ones. */
export function flatSession(session: object): object {
  const { type: _, audio, output_modalities: _modalities, max_output_tokens: max, ...rest } = session as Fields;
  const [input, output] = [fieldsOf(fieldsOf(audio)['input']), fieldsOf(fieldsOf(audio)['output'])];
  const format = fieldsOf(input['format'])['type'] === 'audio/pcm' ? 'pcm16' : 'g711_ulaw';
  return {
    ...rest,
    ...{ modalities: ['audio', 'text'], input_audio_format: format, output_audio_format: format },
    ...{ voice: output['voice'], speed: output['speed'], max_response_output_tokens: max },
    ...{ turn_detection: input['turn_detection'], input_audio_transcription: input['transcription'] },
    input_audio_noise_reduction: input['noise_reduction'],
  };
}

function merged(base: Fields, over: Fields): Fields {
  const names = [...Object.keys(base), ...Object.keys(over).filter((name) => !Object.hasOwn(base, name))];
  return Object.fromEntries(
    names.map((name) => {
      if (!Object.hasOwn(over, name)) return [name, base[name]];
      return [name, isFields(base[name]) && isFields(over[name]) ? merged(base[name], over[name]) : over[name]];
    }),
  );
}

function sessionViolation(value: unknown): string | undefined {
  if (!isFields(value)) return 'must be an object';
  if (JSON.stringify(value).length > MAX_SESSION) return `must have at most ${MAX_SESSION} characters of JSON`;
  const { type, audio, output_modalities: modalities, tools } = value;
  if (type !== undefined && type !== 'realtime') return 'must have the type realtime';
  if (audio !== undefined && !isFields(audio)) return 'must have an object as audio';
  const { input, output } = fieldsOf(audio);
  for (const [name, part] of Object.entries({ input, output })) {
    if (part !== undefined && !isFields(part)) return `must have an object as audio.${name}`;
    if ('format' in fieldsOf(part)) return `must not set audio.${name}.format: the option line sets it`;
  }
  if (fieldsOf(input)['turn_detection'] === null) {
    return "must not set audio.input.turn_detection to null: the platform decides when the caller's turn ends";
  }
  if (modalities !== undefined && !(Array.isArray(modalities) && modalities.includes('audio'))) {
    return 'must have audio in output_modalities';
  }
  const hasOnlyFunctions = Array.isArray(tools) && tools.every((tool) => fieldsOf(tool)['type'] === 'function');
  return tools === undefined || hasOnlyFunctions
    ? undefined
    : 'must have tools of the type function only: they are answered from toolResults';
}

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const fieldsOf = (value: unknown): Fields => (isFields(value) ? value : {});
