import { FINDING_SEVERITIES, THINKING_REASONS } from '../../../../libs/simulation/index.js';
import {
  count,
  described,
  flag,
  list,
  number,
  object,
  orNull as or,
  text,
} from '../../../platform/openapi/schema-parts.js';

const latency = object(
  {
    turn: described(count, "Number of the caller's turn"),
    heardMs: described(
      or(number),
      "From the end of the caller's speech to the agent's first onset; the wait if unanswered",
    ),
    firstByteMs: described(or(number), 'Until the first byte of that sound arrived'),
    leadingSilenceMs: described(or(number), 'From that byte to the onset'),
    leadInMs: described(number, 'From the onset to the speech, where a sound under 250 ms opens the answer'),
    answered: flag,
    note: {
      enum: ['already_speaking', 'answered_early'],
      description: 'Why there is no latency although the agent spoke',
    },
    plusMinusMs: described(
      number,
      'How far it may be off: the stalls in the span, the lag that stalls left in the audio, 320 beside ' +
        'background audio of the agent, and in an imported call what its recording leaves open of the caller’s speech',
    ),
  },
  ['leadInMs', 'note'],
);

/** Schemas of the parts of a result that only voice calls have. */
export const VOICE_SCHEMAS = {
  CallVoice: object(
    {
      clock: {
        enum: ['heard', 'line', 'estimated', 'recorded'],
        description:
          '`line` on a telephone line, where the agent paces its sound; `estimated` where speaking times are computed from words; `recorded` where the call was recorded elsewhere',
      },
      latencies: described(list(latency), 'Response latency as heard, one per turn of the caller'),
      bargeIns: list(
        object({
          atMs: number,
          afterHeardMs: described(number, "Audible milliseconds of the agent's turn before it"),
          possible: described(flag, "False when the agent's turn had ended"),
          yielded: described(or(flag), 'Null when undecided: nothing shows whether the agent stopped or was over'),
          yieldMs: described(or(number), 'How long the agent was heard after it'),
          plusMinusMs: described(number, 'How far it may be off, likewise'),
          heardUntilMs: described(
            number,
            "Played milliseconds of the agent's item when its sound was dropped, or else ended, leading silence included",
          ),
        }),
      ),
      backchannels: list(
        object({
          type: { enum: ['backchannel', 'noise'] },
          atMs: number,
          kept: described(or(flag), 'Whether the agent kept its turn, or its silence; null when undecided'),
        }),
      ),
      interruptions: described(
        list(object({ atMs: number, overlapMs: number, inHesitation: flag })),
        'Without collisions and without backchannels of the agent',
      ),
      overlapMs: described(or(number), 'Null unless both sides were heard'),
      deadAir: object({ totalMs: number, longestMs: number, over3s: count }),
      choppiness: object({
        gaps: described(or(count), 'Null for an imported call'),
        perMinute: described(or(number), 'Per minute of agent speech; null if the agent was not heard'),
      }),
      speech: object({ agentMs: number, callerMs: number }),
      speechShare: described(or(number), "The agent's share of the seconds of speech, 0 to 1"),
      agentWordsPerMinute: described(or(number), 'Null where its words are not known'),
      level: object(
        {
          agentDbfs: or(number),
          clippedPercent: described(or(number), 'Null if the agent sent no audio'),
          inaudible: described(flag, 'Present when its audio could not be heard'),
        },
        ['inaudible'],
      ),
      background: described(
        or(
          object({
            dbfs: described(number, 'Its median level'),
            fromMs: described(number, 'When it was first heard'),
          }),
        ),
        "Background audio under the agent's voice; null if none was found",
      ),
      greetingMs: or(number),
      greetingPlusMinusMs: described(number, 'How far it may be off, as for a latency; absent for 0'),
      collisions: described(count, 'Both began to speak at about the same time'),
      callerThinking: described(
        list(
          object({
            turn: described(count, "Number of the caller's turn that followed"),
            startMs: number,
            endMs: described(number, "With the caller's act, or with speech of the agent"),
            attempts: described(
              count,
              'How often the caller had begun to think before this turn: the agent may go on speaking',
            ),
            reason: { enum: [...THINKING_REASONS], description: 'What it waited for' },
          }),
        ),
        'When the caller thought about what to say, in no other measure; absent if it did not',
      ),
    },
    ['greetingPlusMinusMs', 'callerThinking'],
  ),
  WireFinding: object({
    code: text,
    severity: { enum: [...FINDING_SEVERITIES] },
    atMs: described(or(number), 'Null before the answer'),
    detail: text,
    source: described(text, "Sentence of the platform's documentation"),
  }),
  TimedWord: object(
    {
      speaker: { enum: ['agent', 'caller'] },
      text,
      startMs: number,
      endMs: number,
      source: {
        enum: ['wire', 'recogniser', 'transcript'],
        description:
          'Where a word of the agent comes from: the platform reported it, a recogniser heard it, or the transcript of an import has it',
      },
      estimated: described(
        flag,
        'Present on a word of the caller whose time is estimated: its speech engine gives none',
      ),
      unheard: described(flag, 'Present on a word that was dropped before it was heard'),
      uncertain: described(flag, 'Present on a word at which the agent was cut off: it may have been heard'),
    },
    ['source', 'estimated', 'unheard', 'uncertain'],
  ),
  WordsFrom: object({
    source: {
      enum: ['wire', 'recogniser', 'transcript'],
      description:
        '`wire`: the platform reported what the agent said; `recogniser`: the words were transcribed from its sound; `transcript`: that of an imported call',
    },
    model: described(or(text), 'The model that recognised them; null where the platform reported them'),
    times: {
      enum: ['word', 'estimated', 'utterance'],
      description:
        "`word`: the source's own; `estimated`, `utterance`: spread over the audio of what the platform reported or the recogniser heard",
    },
  }),
  CallRecording: object({
    seconds: number,
    sampleRate: count,
    channels: list({ enum: ['caller', 'agent'] }),
    bytes: count,
  }),
} as const;

export const VOICE_EXAMPLES = {
  CallVoice: {
    clock: 'heard',
    latencies: [{ turn: 1, heardMs: 812, firstByteMs: 640, leadingSilenceMs: 172, answered: true, plusMinusMs: 0 }],
    bargeIns: [
      {
        atMs: 5200,
        afterHeardMs: 1200,
        possible: true,
        yielded: true,
        yieldMs: 240,
        plusMinusMs: 0,
        heardUntilMs: 1440,
      },
    ],
    backchannels: [{ type: 'backchannel', atMs: 9100, kept: true }],
    interruptions: [{ atMs: 12_100, overlapMs: 900, inHesitation: true }],
    overlapMs: 900,
    deadAir: { totalMs: 0, longestMs: 0, over3s: 0 },
    choppiness: { gaps: 0, perMinute: 0 },
    speech: { agentMs: 21_000, callerMs: 9_000 },
    speechShare: 0.7,
    agentWordsPerMinute: null,
    level: { agentDbfs: -21.4, clippedPercent: 0 },
    greetingMs: 640,
    background: null,
    collisions: 0,
  },
  WireFinding: {
    code: 'no_clear_on_barge_in',
    severity: 'error',
    atMs: 5200,
    detail:
      "The caller interrupted while 1800 ms of the agent's audio were buffered, and all of it was played: the agent sent no clear",
    source:
      '"Send a clear message if you want to interrupt the audio that has been sent in various media messages. This empties all buffered audio" (https://www.twilio.com/docs/voice/media-streams/websocket-messages)',
  },
  TimedWord: { speaker: 'caller', text: 'table', startMs: 3420, endMs: 3780 },
  WordsFrom: { source: 'wire', model: null, times: 'estimated' },
  CallRecording: { seconds: 31.2, sampleRate: 8000, channels: ['caller', 'agent'], bytes: 499_200 },
};
