import { isObject } from '../../../../json-input/index.js';
import { type Fields, readTyped, textOf } from '../fields.js';

/** Of RTVI, the protocol of the messages beside the audio: that of Pipecat 1.6 and later. */
export const RTVI = { label: 'rtvi-ai', version: '2.1.0' } as const;

/** What is read of the bot's messages. */
export type RtviMessage =
  | { readonly type: 'ready'; readonly version: string }
  /** A segment of what the bot says. `word`: a single one, as it is spoken. */
  | { readonly type: 'output'; readonly text: string; readonly segment: unknown; readonly isWord: boolean }
  | { readonly type: 'transcription' | 'heard'; readonly text: string }
  /** `name` and `json` are null where the bot is set not to show them. */
  | { readonly type: 'tool'; readonly id: string; readonly name: string | null; readonly json: string | null }
  | { readonly type: 'error'; readonly said: string; readonly isFatal: boolean }
  | { readonly type: 'agent_started' | 'agent_stopped' | 'caller_started' | 'other' | 'invalid' };

const MAX_ID = 200;
const OTHER = { type: 'other' } as const;

/** Reads a message; never throws. */
export const readRtvi = (json: string): RtviMessage => readTyped<RtviMessage>(READERS, json);

const data = (message: Fields): Fields => message.of('data');

const toolOf = (message: Fields): RtviMessage => {
  const call = data(message);
  const args = call.raw('arguments') ?? call.raw('args');
  return {
    type: 'tool',
    id: call.text('tool_call_id').slice(0, MAX_ID),
    name: textOf(call.raw('function_name')),
    json: isObject(args) ? JSON.stringify(args) : null,
  };
};

const errorOf = (message: Fields): RtviMessage => ({
  type: 'error',
  said: textOf(data(message).raw('error')) ?? '',
  isFatal: data(message).raw('fatal') === true,
});

const READERS: Readonly<Record<string, (message: Fields) => RtviMessage>> = {
  'bot-ready': (message) => ({ type: 'ready', version: textOf(data(message).raw('version')) ?? '' }),
  'bot-output': (message) => {
    const output = data(message);
    // RTVI 1 reports what is to be said as well, and then what was said.
    const isSpoken = output.has('will_be_spoken')
      ? output.raw('will_be_spoken') === true
      : output.raw('spoken') === true;
    if (!isSpoken) return OTHER;
    const isWord = output.raw('aggregated_by') === 'word';
    return { type: 'output', text: output.text('text'), segment: output.raw('segment_id'), isWord };
  },
  'bot-transcription': (message) => ({ type: 'transcription', text: data(message).text('text') }),
  'user-transcription': (message) => {
    const text = textOf(data(message).raw('text'));
    return text !== null && data(message).raw('final') === true ? { type: 'heard', text } : OTHER;
  },
  'llm-function-call-in-progress': toolOf,
  'llm-function-call': toolOf,
  error: errorOf,
  'error-response': errorOf,
  'bot-started-speaking': () => ({ type: 'agent_started' }),
  'bot-stopped-speaking': () => ({ type: 'agent_stopped' }),
  'user-started-speaking': () => ({ type: 'caller_started' }),
};
