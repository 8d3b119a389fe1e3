import { CHECK_DEFINITIONS } from '../../../../libs/evaluation-definition/index.js';
import { FAILURES, LATENCY_CLOCKS } from '../../../../libs/simulation/index.js';
import { nameSchemas, SchemaField } from '../../../platform/openapi/named-schemas.js';
import {
  count,
  flag,
  type JsonSchema,
  list,
  number,
  object,
  oneOf,
  orNull as or,
  ref,
  text,
} from '../../../platform/openapi/schema-parts.js';
import { CALL_EXAMPLES } from './call-examples.js';
import { ENDED, IMPORT_SCHEMAS, RECORDED } from './import-schemas.js';
import { VOICE_EXAMPLES, VOICE_SCHEMAS } from './voice-schemas.js';

const ms = (description: string) => ({ type: 'number', minimum: 0, description });
const span = {
  start: ms('When the entry starts, in milliseconds since the call was answered'),
  end: ms('When the entry ends, in milliseconds since the call was answered'),
  turn: { ...count, description: 'Number of caller turns so far; 0 before the first' },
};
const speaker = oneOf('agent', 'caller');
const entry = (
  type: string,
  properties: Readonly<Record<string, JsonSchema>>,
  optional: readonly string[] = [],
): JsonSchema => object({ type: oneOf(type), ...properties, ...span }, optional);

const position = (description: string) => ({ ...count, description });
const script = {
  ...object(
    {
      step: position('Position of the step in the script, from 0'),
      answers: { ...list(count), description: 'Positions of the answers that matched, from 0' },
      otherwise: { ...flag, description: 'Present when no answer matched' },
      repeated: { ...flag, description: 'Present when the line was repeated because the agent had not answered' },
    },
    ['answers', 'otherwise', 'repeated'],
  ),
  description: 'Where in its script a scripted caller found the line',
};

const ENTRIES = {
  speech: entry(
    'speech',
    {
      speaker,
      text,
      cut: flag,
      continues: flag,
      script,
      words: {
        ...oneOf('known', 'partly', 'unknown', 'deleted', 'withheld'),
        description:
          'How much is known of what the agent was heard to say on a voice call; absent elsewhere. `deleted`: the texts of the call were deleted (`TRANSCRIPT_RETENTION_DAYS`); `withheld`: they are those of a production call, which VIEWER keys do not read',
      },
      uncertain: {
        ...list(list(count)),
        description:
          'Parts of the text, from and to a position, at which the agent was cut off: they may not have been heard',
      },
      interrupted: {
        ...flag,
        description: "Present when the rest of the agent's words was dropped before it was heard",
      },
      unheard: {
        ...text,
        description:
          'Words that the agent had ready and did not say, because a caller without a script interrupted it; they meet and fail no check',
      },
      promptedByWait: {
        ...flag,
        description:
          'Present when the agent spoke while the caller of a voice call thought, for instance to ask whether it is still there: counts in no time and no turn',
      },
      alternative: {
        ...object({ source: oneOf('wire'), text }),
        description:
          'Shown, never judged: what the platform of a voice call understood of a line of the caller; on the first words of the agent in a turn, what it generated in that turn where a recogniser heard something else',
      },
      bargeIn: {
        ...object({ afterMs: count, possible: flag }),
        description:
          "Present on a line that was to be spoken over the agent; `possible` is false over text, or when the agent's turn ended first",
      },
    },
    [
      ...['cut', 'continues', 'script', 'words', 'uncertain', 'interrupted', 'unheard', 'promptedByWait'],
      ...['alternative', 'bargeIn'],
    ],
  ),
  sound: entry(
    'sound',
    {
      speaker: oneOf('caller'),
      kind: oneOf('backchannel', 'noise', 'filler', 'keys'),
      name: { ...text, description: 'Name of the sound, or the keys, as in the script' },
      possible: {
        ...flag,
        description: "False when it was left out: over text, or because the agent's turn ended first",
      },
      script,
    },
    ['script'],
  ),
  finding: entry('finding', { code: text, severity: oneOf('error', 'warning'), detail: text }),
  platform: entry('platform', {
    event: oneOf('transfer', 'note'),
    detail: { ...text, description: 'What the agent asked its platform to do; for `transfer` the target' },
  }),
  tool_call: entry(
    'tool_call',
    {
      name: text,
      arguments: or({ type: 'object', additionalProperties: true }),
      rawArguments: text,
      result: { description: 'What the tester returned, if it did, or the backend reported: any JSON value' },
      isResultOmitted: { ...flag, description: 'Present when the result is not stored because the call has too many' },
      isBesideWords: {
        ...flag,
        description: 'Present when it came in one message with the words before it: which came first is not known',
      },
      reported: { ...oneOf('given', 'arrival'), description: 'Of a report; with `arrival` its turn may be earlier' },
    },
    ['rawArguments', 'result', 'isResultOmitted', 'isBesideWords', 'reported'],
  ),
  given: entry('given', { line: ref('HistoryLine') }),
  silence: entry('silence', { of: speaker }),
  error: entry('error', { code: text, message: text }),
  end: entry('end', { ...ENDED, recorded: RECORDED }, ['recorded']),
};

const evidence = object({
  entry: { ...count, description: 'Index in the timeline' },
  quote: { ...text, description: 'Literal quote from that entry' },
});
const weighed = { weight: number, required: flag };
const modelUse = object(
  { requests: count, ms: number, promptTokens: count, completionTokens: count, costUsd: or(number) },
  ['costUsd'],
);
const plusMinusMs = ms('By how much the measured time may be off, because the tester stalled during it');
const latency = {
  count: { ...count, description: 'Number of measured answers' },
  p50: or(number),
  p90: or(number),
  p95: or(number),
  p99: or(number),
  worst: or(number),
};
const failure = object(
  {
    code: oneOf(...Object.keys(FAILURES)),
    message: text,
    fault: oneOf('agent', 'infrastructure'),
    retryable: flag,
    retryAfterMs: ms('How long the other side asked to wait before the next request'),
  },
  ['retryAfterMs'],
);

/** What the judge found about a statement. */
const judged = {
  verdict: oneOf('met', 'not_met', 'no_verdict', 'not_judged'),
  reason: text,
  evidence: or(ref('Evidence')),
  samples: list(
    object(
      {
        met: or(flag),
        reasoning: text,
        evidence: or(ref('Evidence')),
        isUnclear: {
          ...flag,
          description: 'Present if it depends on words of the agent on a voice call that are not known',
        },
        unusable: { ...list(text), description: 'Answers of the model that were unusable, truncated' },
      },
      ['isUnclear', 'unusable'],
    ),
  ),
  disagreement: flag,
  failure: ref('CallFailure'),
};

/** JSON Schema of call results: the counterpart of the types in libs/simulation. */
const SCHEMAS = {
  TimelineEntry: {
    oneOf: Object.values(ENTRIES),
    description:
      'One event of a call: a line of the history that was given, speech of either side, a sound or keys of the caller, a tool call, silence, a deviation from the protocol, an instruction to the platform, an error or the end',
  },
  Evidence: evidence,
  CheckResult: object(
    {
      index: { ...count, description: "Position among the evaluation's checks" },
      type: oneOf(...Object.keys(CHECK_DEFINITIONS)),
      name: text,
      ...weighed,
      met: {
        ...or(flag),
        description: 'Null if it could not be decided: the tester stalled, or what the check is about did not happen',
      },
      detail: text,
      evidence: list(ref('Evidence')),
      decidedByEntry: {
        ...count,
        description: 'Present if not met, whatever would have followed: index in the timeline of what decided it',
      },
      parts: {
        ...list(
          object(
            {
              name: text,
              met: or(flag),
              detail: text,
              evidence: list(ref('Evidence')),
              judged: object(judged, ['failure']),
            },
            ['judged'],
          ),
        ),
        description: 'Present if a criterion is in the check: what was found for its innermost checks, in order',
      },
      step: { ...count, description: 'Present for what `expect` says of a line: position of its step in the script' },
      answer: { ...count, description: 'Present for what `expect` says of an answer: its position in the step' },
    },
    ['decidedByEntry', 'parts', 'step', 'answer'],
  ),
  CriterionResult: object(
    {
      index: { ...count, description: "Position among the evaluation's criteria" },
      text,
      turn: { ...count, description: 'The only turn that it is about' },
      ...weighed,
      ...judged,
    },
    ['failure', 'turn'],
  ),
  LatencyMeasures: object(latency),
  ComparedLatency: object({
    ...latency,
    clock: {
      ...or(oneOf(...LATENCY_CLOCKS)),
      description:
        'What they are measured on: `text`, or the audio of voice calls as `heard`, on a telephone `line`, as `estimated` or as `recorded` elsewhere; null if it is not known',
    },
  }),
  CallMeasures: object(
    {
      durationMs: number,
      turns: count,
      latency: object({ ...latency, plusMinusMs }, ['plusMinusMs']),
      timeToFirstWordMs: or(number),
      words: object({
        caller: count,
        agent: { ...or(count), description: 'Null if the agent spoke and not all its words are known' },
      }),
      talkRatio: or(number),
      longestSilenceMs: or(number),
      plusMinusMs: object({
        durationMs: plusMinusMs,
        timeToFirstWordMs: plusMinusMs,
        longestSilenceMs: plusMinusMs,
      }),
      toolCalls: {
        ...or(count),
        description: 'Null if they are not known, as over Twilio without the option `toolCalls: reported`',
      },
      endedBy: or(oneOf('agent', 'caller', 'tester')),
      endCode: or(text),
      endReason: or(text),
      tester: object({ caller: modelUse, judge: modelUse, costUsd: or(number) }, ['costUsd']),
    },
    ['plusMinusMs'],
  ),
  CallFailure: failure,
  CallInvalidity: object({ code: text, message: text, evidence: list(ref('Evidence')) }),
  CallVersions: object(
    {
      simulation: text,
      transport: text,
      caller: { ...oneOf('scripted', 'generated', 'recorded'), description: '`recorded`: of an imported call' },
      model: or(text),
      callerPrompt: or(text),
      judgePrompt: or(text),
      speech: {
        ...text,
        description:
          "Speech engine of the caller's lines with its version, or host of the speech server with its model; " +
          'absent for text calls and calls of earlier versions',
      },
    },
    ['speech'],
  ),
  CallExchange: object({
    protocol: text,
    url: { ...text, description: 'Address of the agent without secrets, or the name of the setting that contains it' },
    callId: { ...text, description: 'UUID of the attempt, which the agent received as `X-Call-Id`' },
    requests: list(
      object(
        {
          turn: { ...count, description: "The caller's turn that it belongs to; 0 for the greeting" },
          sentAtMs: or(ms('When it was sent, in milliseconds of call time; null if the connection failed')),
          status: or({ ...count, description: 'HTTP status; null without a response' }),
          firstByteMs: or(ms('When the response began, in milliseconds of call time')),
          tokenTimesMs: list(ms("When each part of the agent's words arrived, in milliseconds of call time")),
          finishReason: or(text),
          unreadable: { ...text, description: 'Beginning of the piece of the response that was not understood' },
        },
        ['unreadable'],
      ),
    ),
    omittedRequests: { ...count, description: 'Number of further requests that are not listed' },
  }),
  UnusableAnswer: object({ task: oneOf('caller', 'judge'), text }),
  CallReliability: object(
    {
      reliable: { ...flag, description: 'Whether every time of the call can be relied on' },
      stalls: {
        ...list(object({ atMs: ms('When it began, in milliseconds of call time'), ms: ms('How long it lasted') })),
        description: 'Times in which the tester could not react, the longest ones',
      },
      worstStallMs: ms('The longest stall'),
      frameLatenessMs: {
        ...object({ p50: number, p99: number, worst: number }),
        description: 'How late the frames of a voice call were sent',
      },
      lagMs: ms("How late the agent's audio may have been heard after a stall; absent if it was not"),
    },
    ['frameLatenessMs', 'lagMs'],
  ),
  ...VOICE_SCHEMAS,
  ...IMPORT_SCHEMAS,
  CallEnd: object(ENDED),
  CallEvaluation: object(
    {
      ...{ key: or(text), name: text, critical: flag, tags: list(text) },
      ...{ scenarioText: text, generalInstructions: text },
      language: { ...text, description: 'BCP 47; missing in calls of earlier versions' },
      hasOwnLanguage: {
        ...flag,
        description: "Whether the language is the evaluation's own, and not the agent's or the default",
      },
      dates: object({ at: text, timezone: text, language: text }),
      ...{ phoneNumber: text, appliesTo: ref('Check') },
      personality: object(
        {
          id: text,
          name: text,
          description: text,
          prompt: text,
          temperature: number,
          voice: {
            ...object(
              {
                ...{ gender: text, accent: text, voice_id: text, provider: text, backgroundNoise: flag },
                interrupts: { ...oneOf('never', 'sometimes'), description: 'Missing in calls of earlier versions' },
              },
              ['interrupts'],
            ),
            description: 'What voice calls use; missing in calls of earlier versions',
          },
        },
        ['voice'],
      ),
      definition: {
        type: 'object',
        additionalProperties: true,
        description: 'Script, checks, criteria and limits of the evaluation; checks with `step` are from `expect`',
      },
    },
    ['language', 'hasOwnLanguage', 'dates', 'appliesTo'],
  ),
  CallAgent: object({ name: or(text), provider: text, assistantId: text, type: or(text) }, ['type']),
} as const;

const EXAMPLES: Readonly<Record<string, unknown>> = { ...CALL_EXAMPLES, ...VOICE_EXAMPLES };

for (const [name, schema] of Object.entries(SCHEMAS)) nameSchemas({ [name]: { ...schema, example: EXAMPLES[name] } });

type SchemaName = keyof typeof SCHEMAS;

export const refTo = (name: SchemaName): JsonSchema => ref(name);

/** Documents a property as one of these schemas, or null. */
export const NullableField = (name: SchemaName, description: string) =>
  SchemaField({ ...or(ref(name)), description }, true);

/** Documents a property as a list of one of these schemas, or null. */
export const NullableListField = (name: SchemaName, description: string) =>
  SchemaField({ ...or(list(ref(name))), description }, true);

/** Documents a property as a list of one of these schemas. */
export const ListField = (name: SchemaName, description: string) =>
  SchemaField({ ...list(ref(name)), description }, true);
