import { Random } from '../../../../../audio/index.js';
import type { VoiceFacts } from '../../../../voice/facts/facts.js';
import { callOf, planOf } from '../../../../voice/testing/virtual-calls.js';
import { utterancesOf } from '../../../../voice/words/utterances.js';
import { flatSession, sessionOf } from '../options.js';
import realtimeEntry from '../wire.js';
import { created, ScriptedRealtime, updated } from '../../../../../../test/simulators/openai-realtime/double/agent.js';
import { tone } from '../../../../../../test/simulators/openai-realtime/double/events.js';

type Event = Readonly<Record<string, unknown>>;
export type Message = string | Uint8Array;

/** One response in a legal dialect of the protocol. */
export interface Dialect {
  readonly messages: readonly Message[];
  readonly words: string;
  readonly audioMs: number;
  /** Name and arguments by call_id. */
  readonly calls: readonly (readonly [id: string, name: string, json: string])[];
  /** What OpenAI's own client does not read in it, though the platform said it; empty: it reads the same. */
  readonly differences: readonly string[];
}

const WORDS = [
  'Good',
  'evening,',
  'yes.',
  'A',
  'table',
  'for',
  'six',
  'people',
  'at',
  'Café',
  '„Zürich“',
  '–',
  'is',
  'booked!',
  'नमस्ते',
];
const NAMES = ['book_table', 'send_sms', 'find'];
const ARGUMENTS = ['{}', '{"people":4}', '{"text":"at \\"7\\"","list":[1,null]}', '{"ä":{"b":-1.5}}'];
const CHANNELS = ['arguments', 'item', 'conversation', 'output'] as const;
const MULAW = {
  audio: { input: { format: { type: 'audio/pcmu' } }, output: { format: { type: 'audio/pcmu' } } },
} as const;

/** Makes a dialect of random choices. */
export class DialectMaker {
  private readonly differences = new Set<string>();
  private events = 0;

  constructor(private readonly random: Random) {}

  make(): Dialect {
    const { differences } = this;
    differences.clear();
    const calls = Array.from({ length: Math.floor(this.random.next() * 3) }, (_, n) => {
      return [`call_${n}`, this.pick(NAMES), this.pick(ARGUMENTS)] as const;
    });
    const isSpoken = calls.length === 0 || this.chance(0.7);
    const words = isSpoken
      ? Array.from({ length: 1 + Math.floor(this.random.next() * 7) }, () => this.pick(WORDS)).join(' ')
      : '';
    const audioMs = isSpoken ? 500 + 100 * Math.ceil(words.length / 2) : 0;
    const output: unknown[] = [];
    const message = isSpoken ? this.message(words, audioMs, output) : [];
    const called = calls.flatMap(([id, name, json], index) => this.call(id, name, json, index + 1, output));
    const listed = output.length > 0 ? output : this.pick([[], null, undefined]);
    const done = {
      id: 'resp_1',
      object: 'realtime.response',
      status: 'completed',
      status_details: null,
      usage: null,
      output: listed,
    };
    const events = [
      {
        type: 'response.created',
        response: { id: 'resp_1', object: 'realtime.response', status: 'in_progress', output: [] },
      },
      ...(this.chance(0.5) ? [...message, ...called] : [...called, ...message]),
      { type: 'response.done', response: this.shuffled(done) },
    ];
    const messages = events.flatMap((event) => [...this.noise(), this.written(event)]);
    return { messages, words, audioMs, calls, differences: [...differences] };
  }

  private message(words: string, audioMs: number, output: unknown[]): Event[] {
    const place = { response_id: 'resp_1', item_id: 'item_1', output_index: 0, content_index: 0 };
    const item = { id: 'item_1', object: 'realtime.item', type: 'message', role: 'assistant' };
    const isInOutput = this.chance(0.5);
    const hasDeltas = !isInOutput || this.chance(0.8);
    const isSummed = this.chance(0.5);
    if (isInOutput)
      output.push({ ...item, status: 'completed', content: [{ type: 'output_audio', transcript: words }] });
    if (!hasDeltas) this.differences.add('words that no delta has');
    const isStray = hasDeltas && this.chance(0.1);
    const bytes = tone(audioMs);
    const deltas: Event[] = this.cut([...words]).map((letters, index) => ({
      type: 'response.output_audio_transcript.delta',
      ...place,
      ...(isStray && { item_id: `stray_${index}`, response_id: '' }),
      delta: letters.join(''),
    }));
    const audio: Event[] = this.cut([...bytes]).map((piece) => ({
      type: 'response.output_audio.delta',
      ...place,
      delta: Buffer.from(piece).toString('base64'),
    }));
    const isUnnamed = this.chance(0.05);
    if (isUnnamed) this.differences.add('audio without item_id');
    const named = audio.map((event) => (isUnnamed ? { ...event, item_id: this.pick([null, '', undefined]) } : event));
    const whole = { type: 'response.output_audio_transcript.done', ...place, transcript: words };
    return this.oldNames([
      ...(this.chance(0.5)
        ? [{ type: 'response.output_item.added', ...place, item: { ...item, status: 'in_progress', content: [] } }]
        : []),
      ...this.mixed(hasDeltas ? deltas : [], named),
      ...(isSummed && !isStray && hasDeltas ? [whole] : []),
      ...(this.chance(0.5) ? [{ type: 'response.output_audio.done', ...place }] : []),
    ]);
  }

  private call(id: string, name: string, json: string, index: number, output: unknown[]): Event[] {
    const channels = CHANNELS.filter(() => this.chance(0.5));
    if (channels.length === 0) channels.push(this.pick(CHANNELS));
    const place = { response_id: 'resp_1', output_index: index };
    const form = { ...this.status(), arguments: this.chance(0.1) ? (JSON.parse(json) as unknown) : json };
    const isStrict = form.status === 'completed' && typeof form.arguments === 'string';
    if (!channels.includes('item')) this.differences.add('a call without response.output_item.done');
    else if (!isStrict) this.differences.add('a call without status, or whose arguments are an object');
    const item = { id: `fc_${id}`, object: 'realtime.item', type: 'function_call', call_id: id, name, ...form };
    if (channels.includes('output')) output.push(this.shuffled(item));
    const added = {
      type: 'response.output_item.added',
      ...place,
      item: { ...item, status: 'in_progress', arguments: '' },
    };
    const isAdded = this.chance(0.5);
    // Some servers leave the name to the item.
    const isNamed = this.chance(0.7) || (!isAdded && channels.length === 1);
    const events: Record<(typeof CHANNELS)[number], Event[]> = {
      arguments: [
        {
          type: 'response.function_call_arguments.done',
          ...place,
          ...{ item_id: `fc_${id}`, call_id: id, name: isNamed ? name : undefined, arguments: json },
        },
      ],
      item: [{ type: 'response.output_item.done', ...place, item: this.shuffled(item) }],
      conversation: [{ type: 'conversation.item.done', previous_item_id: null, item: this.shuffled(item) }],
      output: [],
    };
    const told = channels.flatMap((channel) =>
      this.chance(0.2) ? [...events[channel], ...events[channel]] : events[channel],
    );
    return isAdded ? [added, ...told] : told;
  }

  private status(): { readonly status?: string | null } {
    return this.chance(0.9) ? { status: 'completed' } : this.pick([{}, { status: null }]);
  }

  private oldNames(events: Event[]): Event[] {
    if (!this.chance(0.1)) return events;
    this.differences.add('names before general availability');
    return events.map((event) => ({
      ...event,
      type: String(event['type']).replace('response.output_audio', 'response.audio'),
    }));
  }

  /** Messages that change nothing. */
  private noise(): Message[] {
    if (!this.chance(0.1)) return [];
    return [
      this.pick([
        '{"type":"rate_limits.updated","event_id":"r","rate_limits":null}',
        '{"type":"response.of_a_later_version","event_id":"l"}',
        '{"type":"response.content_part.done","event_id":"p","response_id":"resp_1","part":null}',
        'ping',
      ]),
    ];
  }

  private written(event: Event): Message {
    const more = this.chance(0.2) ? { x_vendor: { any: [null, 1] } } : {};
    const text = JSON.stringify(this.shuffled({ event_id: `event_${++this.events}`, ...event, ...more }));
    return this.chance(0.05) ? Buffer.from(text) : text;
  }

  private shuffled(event: Event): Event {
    const entries = Object.entries(event).map((entry) => [this.random.next(), entry] as const);
    return Object.fromEntries(entries.sort(([a], [b]) => a - b).map(([, entry]) => entry));
  }

  /** Two lists in one, each in its order. */
  private mixed(one: Event[], other: Event[]): Event[] {
    const [left, right] = [[...one], [...other]];
    const all: Event[] = [];
    while (left.length > 0 || right.length > 0) {
      const from = right.length === 0 || (left.length > 0 && this.chance(0.6)) ? left : right;
      all.push(from.shift()!);
    }
    return all;
  }

  /** Pieces of a list, cut anywhere. */
  private cut<T>(list: readonly T[]): T[][] {
    const pieces = 1 + Math.floor(this.random.next() * 6);
    const at = Array.from({ length: pieces - 1 }, () => Math.floor(this.random.next() * list.length)).sort(
      (a, b) => a - b,
    );
    return [0, ...at]
      .map((from, index) => list.slice(from, at[index] ?? list.length))
      .filter((piece) => piece.length > 0);
  }

  private pick<T>(list: readonly T[]): T {
    return list[Math.floor(this.random.next() * list.length)]!;
  }

  private chance(share: number): boolean {
    return this.random.next() < share;
  }
}

/** What the wire reads of a dialect, in a call on virtual time. */
export async function readByWire({ messages }: Pick<Dialect, 'messages'>) {
  const session = sessionOf({});
  const facts: VoiceFacts = await callOf(
    planOf([{ type: 'wait', ms: 4_000 }]),
    (socket) =>
      new ScriptedRealtime(socket, {
        onOpen: [{ send: [created()] }],
        onUpdate: [{ send: [updated(MULAW)] }],
        onCreate: [[{ send: messages }]],
      }),
    { wire: realtimeEntry({ session, flat: flatSession(session), greets: true, secrets: [] }) },
  );
  return {
    words: utterancesOf(facts)
      .map(({ text }) => text ?? '(unknown)')
      .join(' '),
    audioMs: facts.arrivals.reduce((sum, { playedFromMs, playedToMs }) => sum + playedToMs - playedFromMs, 0),
    calls: facts.toolCalls.map(({ name, json }) => [name, json] as const),
    errors: facts.wireFindings.filter(({ severity }) => severity === 'error'),
  };
}
