import type { AgentSound, CallerAct, SayAct, SoundAct, VoiceFacts } from '../facts/facts.js';

/** A line of the caller; `bargeIn` and several parts by `more`. */
export const line = (startMs: number, endMs: number, more: Partial<SayAct> = {}): SayAct => ({
  type: 'say',
  step: 0,
  turn: 1,
  text: 'A table, please.',
  startMs,
  endMs,
  parts: [{ startMs, endMs }],
  words: [],
  ...more,
});

export const bargeIn = (startMs: number, endMs: number, more: Partial<NonNullable<SayAct['bargeIn']>> = {}): SayAct =>
  line(startMs, endMs, {
    bargeIn: { afterMs: 1_000, possible: true, afterHeardMs: 1_000, bufferedMs: 100, heardUntilMs: 1_000, ...more },
  });

export const sound = (
  type: SoundAct['type'],
  startMs: number,
  endMs: number,
  more: Partial<SoundAct> = {},
): SoundAct => ({ type, step: 0, turn: 1, name: 'cough', afterMs: 1_000, possible: true, startMs, endMs, ...more });

export const keys = (startMs: number, endMs: number): CallerAct => ({
  type: 'press',
  step: 0,
  turn: 1,
  keys: '1',
  startMs,
  endMs,
});

export const agentSound = (startMs: number, endMs: number, more: Partial<AgentSound> = {}): AgentSound => ({
  startMs,
  endMs,
  turn: 1,
  firstByteMs: startMs,
  dbfs: -20,
  ...more,
});

/** The facts of a call of 30 s that the caller ended, in which nothing happened but what is given. */
export const factsOf = (given: Partial<VoiceFacts>): VoiceFacts => ({
  caller: [],
  agent: [],
  background: null,
  agentTurns: [],
  answeredTurns: 0,
  silences: [],
  arrivals: [],
  clears: [],
  underruns: [],
  level: { dbfs: -20, sentDbfs: -22, clippedPercent: 0, inaudible: false },
  end: { by: 'caller', code: 'script_over', reason: 'The script ended', atMs: 30_000 },
  said: [],
  heardCaller: [],
  toolCalls: [],
  wireFindings: [],
  platformEvents: [],
  timing: { frameLatenessMs: { p50: 0, p99: 0, worst: 0 }, stalls: [], sentAsPlanned: true },
  ...given,
});
