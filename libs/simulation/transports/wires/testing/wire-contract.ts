import { fileURLToPath } from 'node:url';
import { normalise } from '../../../../evaluation-definition/index.js';
import { Random } from '../../../../audio/index.js';
import { OutboundClient } from '../../../../outbound-http/index.js';
import { shareOf } from '../../../../statistics/testing/sample.js';
import { executeCall } from '../../../call/call.js';
import { Timeline } from '../../../timeline/timeline.js';
import { MediaCall } from '../../../voice/call/media-call.js';
import { virtualCalls } from '../../../voice/call/virtual-call.js';
import { voiceEntries } from '../../../voice/conversation/voice-timeline.js';
import { collected, planOf, SOUNDS } from '../../../voice/testing/virtual-calls.js';
import type { WireEntry, WireFactory } from '../../../voice/wire/wire.js';
import type { AgentEndpoint } from '../../modules/endpoint.js';
import type { Dialled, WireModule, WireSession } from '../../modules/module.js';

type Message = string | Uint8Array;

/** The platform's side of one call, as the contract needs it. It shares no module with the wire. */
export interface ContractDouble {
  /** A message of the wire: later ones may need what it says. */
  receive(data: Message): void;
  /** What makes the platform ready; empty if it is ready when the connection is open. */
  ready(): Message[];
  /** Whether the call begins after 10 s although the platform said nothing. */
  readonly goesOn?: boolean;
  /** Audible sound of the agent. */
  speech(ms: number): Message[];
  /** A message of each kind, with this text wherever the platform may send text, and a malformed one. */
  echoes(text: string): Message[];
  /** A message of a kind that the wire does not know. */
  unknown(text: string): Message;
}

const RANDOM_MESSAGES = shareOf(10_000);
const MESSAGES_PER_CALL = 100;
const READY_MS = 10_000;
/** Has quotes and slashes, so that it differs in each encoding. */
const secretOf = (name: string) => `${name}-k9Zq3/v"T7+wL2p=Xs8`;
const VALUES: readonly unknown[] = [
  null,
  true,
  -1,
  1e308,
  0.5,
  '',
  'ÿ\u0000\ud800',
  [],
  [[1]],
  {},
  { toString: null },
  '__proto__',
];

/**
 * What every wire must do, whatever its platform sends: a suite for the spec of the wire.
 * @param double makes the other side of a call
 * @param url an address that is dialled without a request, or with those that the client answers
 */
export function wireContract(
  module: WireModule,
  double: () => ContractDouble,
  url: string,
  client = new OutboundClient(),
): void {
  const headers = { 'x-customer': secretOf('header') };
  const secretOptions = Object.keys(module.options).filter((name) => module.options[name]!.isSecret);
  const credentials: [string, Partial<AgentEndpoint>, string][] = [
    ['apiKey', { apiKey: secretOf('key') }, secretOf('key')],
    ...secretOptions.map((name): [string, Partial<AgentEndpoint>, string] => {
      return [`the option ${name}`, { options: { [name]: secretOf(name) } }, secretOf(name)];
    }),
  ];
  let entry: WireEntry;
  beforeAll(async () => {
    ({ default: entry } = (await import(fileURLToPath(module.entry))) as { default: WireEntry });
  });

  async function dialled(more: Partial<AgentEndpoint> = {}): Promise<{ session: WireSession } & Dialled> {
    const endpoint = { protocol: module.name, url, headers, firstSpeaker: null, options: {}, ...more };
    const call = { client, assistantId: 'a', phoneNumber: '+12025550199', workspaceId: 'w-1', callId: 'c-1' };
    const session = module.session(endpoint, call);
    const { signal } = new AbortController();
    return { session, ...(await session.dial({ signal, onStep: () => undefined })) };
  }

  const lineRate = () => module.lineRate({});
  const open = async (more: Partial<AgentEndpoint> = {}) =>
    new ContractCall(entry((await dialled(more)).state), double(), lineRate());

  describe('secrets', () => {
    it.each(credentials)('are listed in the state, which survives structuredClone: %s', async (_name, more, secret) => {
      const { state } = await dialled(more);
      expect(structuredClone(state)).toEqual(state);
      expect(state.secrets).toEqual(expect.arrayContaining([secret, headers['x-customer']]));
    });

    it.each(credentials)('are in nothing that is kept when the agent repeats them: %s', async (_name, more, secret) => {
      for (const hidden of [secret, headers['x-customer']]) {
        const forms = formsOf(hidden);
        for (const form of forms) {
          const { session, state } = await dialled(more);
          // Each message ends a call of its own at the latest, since one of them may end the call.
          for (let index = 0; index < double().echoes('').length; index++) {
            const { sink, wire } = collected();
            const result = await executeCall({
              definition: normalise({ script: [{ waitSeconds: 2 }, { end: 'Done' }] }),
              scenario: { scenarioText: 'You wait.' },
              personality: { name: 'Caller' },
              transport: virtualCalls({
                wire: entry(state),
                lineRate: lineRate(),
                secrets: session.secrets,
                agent: (socket) => echoing(double(), index, form, socket),
              }),
              voice: { sounds: SOUNDS, voice: 'any', recording: sink },
            });
            const kept = textsIn([result, wire.map((line) => JSON.parse(line) as unknown)])
              .join('\n')
              .toLowerCase();
            for (const leaked of forms) expect(kept).not.toContain(leaked.toLowerCase());
          }
        }
      }
    });
  });

  describe('hang-up', () => {
    const states: [string, (call: ContractCall) => void, number][] = [
      ['before the connection is open', () => undefined, 0],
      ['before the platform is ready', (call) => call.start(), 1],
      ['when the platform is ready', (call) => call.start().becomeReady().run(500), 1],
      ['while the agent speaks', (call) => call.start().becomeReady().receive(call.double.speech(5_000)).run(500), 1],
      ['after the agent has closed the connection', (call) => call.start().becomeReady().run(100).close(), 1],
      ['after the connection broke off before it was ready', (call) => call.start().close(1006), 1],
    ];

    it.each(states)('stops the wire at most once, %s, also if it is repeated', async (_name, reach, stops) => {
      const call = await open();
      reach(call);
      call.media.abort(call.now);
      const sent = call.sent.length;
      call.media.abort(call.now);
      call
        .close()
        .receive([...call.double.speech(100), ...call.double.echoes('late')])
        .run(500);
      expect(call.media.isOver).toBe(true);
      expect(call.called.filter((name) => name === 'stop')).toHaveLength(stops);
      expect(call.sent).toHaveLength(sent);
      expect(call.reentered).toEqual([]);
    });
  });

  it('keeps a message that it does not know in the wire log, and goes on', async () => {
    const call = (await open()).start().becomeReady();
    call.receive([call.double.unknown('of-a-later-version')]).run(100);
    call.receive(call.double.speech(600)).run(2_000);
    call.media.abort(call.now);
    expect(call.lines.filter((line) => line.includes('of-a-later-version'))).toHaveLength(1);
    expect(call.media.facts().agent).toMatchObject([{ endMs: expect.any(Number) as number }]);
  });

  it(`does not throw on ${RANDOM_MESSAGES} random messages, before and after it is ready`, async () => {
    const random = new Random(1);
    const known = Object.keys(module.findings);
    for (let left = RANDOM_MESSAGES; left > 0;) {
      const call = (await open()).start();
      if (random.next() < 0.7) call.becomeReady();
      for (let n = 0; n < MESSAGES_PER_CALL && !call.media.isOver && left > 0; n++, left--) {
        call.receive([randomMessage(call.double, random)]);
        if (random.next() < 0.1) call.run(40);
      }
      call.close(random.next() < 0.5 ? 1000 : 1006).media.abort(call.now);
      expect(call.reentered).toEqual([]);
      if (!call.media.isBegun) continue;
      const facts = call.media.facts();
      expect(known).toEqual(expect.arrayContaining(facts.wireFindings.map(({ code }) => code)));
      expect(structuredClone(facts)).toEqual(facts);
      // PostgreSQL stores neither.
      const timeline = new Timeline();
      for (const said of voiceEntries(facts)) timeline.observed(said);
      for (const text of textsIn([timeline.entries, facts.wireFindings])) {
        expect(text.includes('\u0000') || !text.isWellFormed()).toBe(false);
      }
    }
  });

  it('begins the call when the platform is ready, and after 10 s gives up or goes on without', async () => {
    const call = await open();
    call.run(1_234).start();
    const isReadyAtOnce = call.double.ready().length === 0;
    expect(call.media.isBegun).toBe(isReadyAtOnce);
    if (isReadyAtOnce) {
      expect(call.media.startedAt).toBe(1_234);
      return;
    }
    call.run(READY_MS - 10);
    expect(call.media.isOver).toBe(false);
    call.run(10);
    expect(call.media.isBegun).toBe(call.double.goesOn ?? false);
    if (call.double.goesOn) return;
    expect(call.media.failure).toMatchObject({ code: 'not_ready', fault: 'infrastructure' });
    expect(call.called.filter((name) => name === 'stop')).toHaveLength(1);
  });
}

/** A call on virtual time whose wire is watched. */
class ContractCall {
  now = 0;
  readonly media: MediaCall;
  readonly sent: Message[] = [];
  /** Methods of the wire, in the order in which they were called. */
  readonly called: string[] = [];
  /** Those that were called while another one had not returned. */
  readonly reentered: string[] = [];
  private readonly recording = collected();
  private running: string | undefined;

  constructor(
    wire: WireFactory,
    readonly double: ContractDouble,
    rate: 8_000 | 16_000 | 24_000,
  ) {
    const script = [{ type: 'wait', ms: 60_000 } as const];
    this.media = new MediaCall(planOf(script, { rate }), (side) => this.watched(wire(side)), {
      send: (data) => {
        this.sent.push(data);
        double.receive(data);
      },
      recording: this.recording.sink,
    });
  }

  get lines(): readonly string[] {
    return this.recording.wire;
  }

  start(): this {
    this.media.start(this.now);
    return this;
  }

  becomeReady(): this {
    return this.receive(this.double.ready());
  }

  receive(messages: readonly Message[]): this {
    for (const message of messages) this.media.onMessage(this.now, message);
    return this;
  }

  run(ms: number): this {
    for (const end = this.now + ms; this.now < end;) this.media.tick((this.now = Math.min(end, this.now + 10)));
    return this;
  }

  close(code = 1000): this {
    this.media.onClose(this.now, { code, reason: '' });
    return this;
  }

  private watched<T extends object>(wire: T): T {
    return new Proxy(wire, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name);
        return typeof member === 'function' ? this.watchedCall(String(name), member.bind(target)) : member;
      },
    });
  }

  private watchedCall = (name: string, method: (...values: unknown[]) => unknown) => {
    return (...values: unknown[]): unknown => {
      if (this.running !== undefined) this.reentered.push(`${name} in ${this.running}`);
      const outer = this.running;
      this.called.push((this.running = name));
      try {
        return method(...values);
      } finally {
        this.running = outer;
      }
    };
  };
}

/** An agent that repeats a text in one kind of message, and in the reason with which it closes the connection. */
function echoing(
  double: ContractDouble,
  index: number,
  text: string,
  socket: { send(data: Message): void; close(code: number, reason: string): void },
) {
  const cues = [
    { at: 100, perform: () => double.ready().forEach((data) => socket.send(data)) },
    { at: 200, perform: () => double.speech(300).forEach((data) => socket.send(data)) },
    { at: 300, perform: () => socket.send(double.echoes(text)[index]!) },
    { at: 1_000, perform: () => socket.close(index % 2 === 0 ? 1000 : 1011, text) },
  ];
  return {
    onMessage: (_now: number, data: Message) => double.receive(data),
    tick: (now: number) => {
      while (cues[0] && cues[0].at <= now) cues.shift()!.perform();
    },
  };
}

const formsOf = (secret: string): string[] => [
  secret,
  Buffer.from(secret).toString('base64'),
  encodeURIComponent(secret),
  JSON.stringify(secret).slice(1, -1),
];

/** All texts in a value, with the names of fields. */
function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => [name, ...textsIn(inner)]);
}

/** Random bytes or text, or a known message with one value of another type. */
function randomMessage(double: ContractDouble, random: Random): Message {
  const pick = <T>(values: readonly T[]): T => values[Math.floor(random.next() * values.length)]!;
  const bytes = Buffer.from(Array.from({ length: Math.floor(random.next() * 60) }, () => random.next() * 256));
  const kind = random.next();
  if (kind < 0.15) return bytes;
  if (kind < 0.3) return bytes.toString('utf8');
  if (kind < 0.4) return JSON.stringify(pick(VALUES));
  const message = pick(double.echoes('text\u0000\ud800'));
  return typeof message === 'string' ? altered(message, pick, random) : message;
}

function altered(text: string, pick: <T>(values: readonly T[]) => T, random: Random): string {
  let message: unknown;
  try {
    message = JSON.parse(text);
  } catch {
    return text.slice(0, random.next() * text.length);
  }
  const objects = objectsIn(message);
  if (objects.length > 0 && random.next() < 0.8) {
    const object = pick(objects);
    object[pick([...Object.keys(object), 'other'])] = pick(VALUES);
  }
  return JSON.stringify(message);
}

const objectsIn = (value: unknown): Record<string, unknown>[] =>
  typeof value !== 'object' || value === null
    ? []
    : [value as Record<string, unknown>, ...Object.values(value).flatMap(objectsIn)];
