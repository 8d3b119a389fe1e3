import { decodeMulaw, encodeMulaw, TELEPHONE_RATE, tone } from '../../../audio/index.js';
import type { SayAct, SoundAct, VoiceFacts } from '../facts/facts.js';
import type { InProcessMediaAgentFactory, InProcessSocket } from '../call/in-process-agent.js';
import type { PreparedSound, PreparedStep, VoiceCallPlan } from '../facts/plan.js';
import { virtualCalls, type VirtualCallOptions } from '../call/virtual-call.js';
import type { CallerSounds } from '../speaking/prepare.js';
import type { RecordingSink } from '../wire/voice-transport.js';
import { rawWire } from './raw-wire.js';

const LEVEL_DBFS = -20;

const tones = new Map<string, Int16Array>();

/** A tone that stands for speech. Made once: a thousand calls would otherwise take most of their time for it. */
export function speech(ms: number, dbfs = LEVEL_DBFS): Int16Array {
  const key = `${ms} ${dbfs}`;
  let made = tones.get(key);
  if (!made) tones.set(key, (made = tone([440], { rate: TELEPHONE_RATE, ms, dbfs })));
  // Calls may keep or transfer it.
  return made.slice();
}

export function prepared(ms: number): PreparedSound {
  const pcm = speech(ms);
  return { pcm, speechStart: 0, speechEnd: pcm.length, words: [] };
}

/** Voices whose lines last 50 ms for each character. */
export const SOUNDS: CallerSounds = {
  synthesise: async ({ text }) => ({
    ...prepared(text.length * 50),
    words: [{ text, startMs: 0, endMs: text.length * 50 }],
  }),
  soundOf: async () => prepared(350),
};

type Line = Omit<Extract<PreparedStep, { type: 'say' }>, 'step'>;
type Step = PreparedStep extends infer One ? (One extends PreparedStep ? Omit<One, 'step'> : never) : never;

/** A line of this length; numbers in between are pauses. */
export const say = (ms: number, bargeInAfterMs?: number): Line => ({
  type: 'say',
  text: `${ms} ms`,
  parts: [prepared(ms)],
  ...(bargeInAfterMs !== undefined && { bargeIn: { afterMs: bargeInAfterMs } }),
});

export const hesitating = (ms: number, pauseMs: number, restMs: number): Line => ({
  type: 'say',
  text: 'with a pause',
  parts: [prepared(ms), { pauseMs }, prepared(restMs)],
});

export const noise = (afterMs?: number): Step => ({
  type: 'noise',
  name: 'cough',
  sound: prepared(350),
  ...(afterMs !== undefined && { afterMs }),
});

export const backchannel = (afterMs: number): Step => ({
  type: 'backchannel',
  name: 'mm-hmm',
  sound: prepared(400),
  afterMs,
});

export const planOf = (script: readonly Step[], more: Partial<VoiceCallPlan> = {}): VoiceCallPlan => ({
  rate: TELEPHONE_RATE,
  script: script.map((step, index) => ({ ...step, step: index })),
  firstSpeaker: null,
  turnEndMs: 700,
  patienceMs: 8_000,
  maxTurns: 40,
  maxDurationSeconds: 120,
  conditions: {},
  backgroundNoise: false,
  seed: 1,
  ...more,
});

/** Runs a call on virtual time. */
export function callOf(
  plan: VoiceCallPlan,
  agent: InProcessMediaAgentFactory,
  { recording, ...more }: Partial<VirtualCallOptions> & { recording?: RecordingSink } = {},
): Promise<VoiceFacts> {
  const transport = virtualCalls({ wire: rawWire, agent, ...more });
  return transport.call({ plan, signal: new AbortController().signal, ...(recording && { recording }) });
}

/** What an agent does at a moment of the call. */
export interface Cue {
  readonly atMs: number;
  /** Plays a tone of this length, sent at once. */
  readonly playMs?: number;
  /** Plays silence before the tone. */
  readonly leadMs?: number;
  readonly dbfs?: number;
  readonly clear?: true;
  readonly control?: string;
  /** Closes the connection. */
  readonly close?: number;
}

/** An agent that does everything at fixed times. */
export const cued =
  (...cues: readonly Cue[]): InProcessMediaAgentFactory =>
  (socket) => {
    const left = [...cues];
    return {
      onMessage: () => undefined,
      tick: (now) => {
        while (left.length > 0 && left[0]!.atMs <= now) perform(left.shift()!, socket);
      },
    };
  };

function perform({ playMs = 0, leadMs = 0, dbfs, clear, control, close }: Cue, socket: InProcessSocket) {
  if (clear) socket.send('clear');
  if (leadMs > 0) socket.send(encodeMulaw(new Int16Array((leadMs * TELEPHONE_RATE) / 1_000)));
  if (playMs > 0) socket.send(encodeMulaw(speech(playMs, dbfs)));
  if (control) socket.send(control);
  if (close !== undefined) socket.close(close);
}

export interface TalkerOptions {
  readonly greetingMs?: number;
  /** Length of each answer. */
  readonly answerMs?: number;
  /** From the end of what it heard to its answer; it needs 300 ms of silence to notice the end. */
  readonly delayMs?: number;
  /** Whether it stops when the caller speaks over it. */
  readonly yields?: boolean;
}

/** An agent that answers when the caller has been silent for 300 ms. It hears by level. */
export const talker =
  ({
    greetingMs = 0,
    answerMs = 1_000,
    delayMs = 500,
    yields = true,
  }: TalkerOptions = {}): InProcessMediaAgentFactory =>
  (socket) => {
    let heardUntil = -Infinity;
    let owes = false;
    let playsUntil = 0;
    let spokeFor = 0;
    const play = (now: number, ms: number) => {
      socket.send(encodeMulaw(speech(ms)));
      playsUntil = Math.max(playsUntil, now) + ms;
    };
    let hasGreeted = false;
    return {
      onMessage: (now, data) => {
        if (typeof data === 'string') return;
        const isLoud = decodeMulaw(data).some((sample) => Math.abs(sample) > 1_000);
        spokeFor = isLoud ? spokeFor + 20 : 0;
        if (!isLoud) return;
        heardUntil = now;
        owes = true;
        if (yields && spokeFor >= 100 && playsUntil > now) {
          socket.send('clear');
          playsUntil = now;
        }
      },
      tick: (now) => {
        if (!hasGreeted && greetingMs > 0 && now >= 200) play(now, greetingMs);
        hasGreeted ||= now >= 200;
        if (!owes || now < heardUntil + Math.max(300, delayMs)) return;
        owes = false;
        play(now, answerMs);
      },
    };
  };

export const lines = (facts: VoiceFacts): SayAct[] => facts.caller.filter((act) => act.type === 'say');

export const sounds = (facts: VoiceFacts): SoundAct[] =>
  facts.caller.filter((act): act is SoundAct => act.type === 'backchannel' || act.type === 'noise');

/** Collects a recording. */
export function collected() {
  const parts: Uint8Array[] = [];
  const wire: string[] = [];
  const sink: RecordingSink = { audio: (part) => parts.push(part), wire: (some) => wire.push(...some) };
  return { sink, wire, bytes: () => Buffer.concat(parts) };
}
