const MIB = 1024 * 1024;

/** What an agent may send on a voice call, and what a call may keep of it; of one message `READ_LIMITS`. The only place of these numbers. */
export const SEND_LIMITS = {
  /** A message with at least this much new audio is free; everything else takes one from the bucket. */
  freeAudioMs: 5,
  bucket: { size: 10_000, perSecond: 200 },
  /** Bytes: `factor` times what the line can play in the call's time so far and `aheadSeconds` more, and `extra`. */
  bytes: { factor: 2, aheadSeconds: 600, extra: MIB },
  /** What a call may keep, as it counts itself. */
  memoryBytes: 16 * MIB,
  /** Audio in the playout buffer, as Twilio has it, and on wires above the rate of the telephone. */
  bufferedMs: { telephone: 600_000, wide: 180_000 },
  /** After it: one line a second on what was left out, and the last messages. */
  wireLog: { bytesPerMinute: 2 * MIB, bytes: 20 * MIB, lastMessages: 1_000 },
  /** A socket that delivers more in one turn of the event loop is paused. */
  turn: { frames: 250, pauseMs: 20 },
  /**
   * Time of the thread that is spent on what agents send: of each connection, and what all may use beyond. An agent that sends
   * in real time uses about 5 ms a second, and one that sends a minute at once a fifth of a second.
   */
  reading: { each: { sizeMs: 20, share: 0.01 }, all: { sizeMs: 150, share: 0.1 } },
} as const;
