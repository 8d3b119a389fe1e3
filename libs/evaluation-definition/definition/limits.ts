/** Limits of an evaluation. Lengths of texts are in Unicode code points. */
export const LIMITS = {
  key: 255,
  name: 255,
  identifier: 255,
  scenarioText: 100_000,
  tags: 20,
  tag: 64,
  steps: 200,
  answers: 50,
  /** Checks under one line. */
  expectations: 20,
  line: 2_000,
  reason: 255,
  waitSeconds: 60,
  /** Texts and hesitations of a line. */
  lineParts: 20,
  pauseMs: 10_000,
  /** Audible milliseconds of the agent's turn before a step that begins during it. */
  afterMs: 60_000,
  keys: 100,
  checks: 100,
  matcherText: 500,
  pattern: 500,
  tool: 255,
  /** Characters of a check's `arguments`, written as JSON. */
  arguments: 10_000,
  /** Bytes of a check's `argumentsSchema`, written as JSON, and of all of an evaluation. */
  argumentsSchema: 65_536,
  argumentsSchemas: 262_144,
  /** Largest number of times that a check counts. */
  times: 100,
  events: 20,
  /** Checks inside another one. */
  nestedChecks: 20,
  sources: 10,
  /** Entries of an `allow` list, and their length. */
  allowed: 100,
  allowedText: 255,
  /** Path in the arguments or the result of a tool. */
  valuePath: 255,
  answerWords: 10_000,
  criteria: 50,
  criterion: 2_000,
  weight: 100,
  rows: 200,
  /** Names of variables. */
  variables: 50,
  variableName: 64,
  variableValue: 2_000,
  /** Characters of a row of variables, written as JSON. */
  row: 20_000,
  /** Characters of scenario, script, checks and criteria with the values of all rows inserted. */
  replaced: 2_000_000,
  history: 100,
  historyText: 10_000,
  /** Bytes of all of `history`, written as JSON: every request to the agent contains it. */
  historySize: 262_144,
  toolResults: 50,
  agentVariables: 50,
  /** Bytes of an entry of `toolResults`, written as JSON. */
  toolResult: 65_536,
  /** Results of one entry, one for each call. */
  resultSequence: 50,
  toolError: 2_000,
  /** A tool that takes longer would exceed the time that platforms wait. */
  toolDelayMs: 30_000,
  timezone: 64,
  language: 64,
  maxTurns: 200,
  maxDurationSeconds: 3_600,
  turnEndMs: { min: 200, max: 3_000 },
  snrDb: { min: -10, max: 60 },
  gainDb: { min: -40, max: 20 },
  echoDb: { min: -60, max: 0 },
  packetLossPercent: 50,
  jitterMs: 500,
  seed: 4_294_967_295,
  yieldMs: 5_000,
  interruptions: 100,
  gapsPerMinute: 600,
} as const;

export const DEFAULTS = {
  maxTurns: 40,
  maxDurationSeconds: 600,
  turnEndMs: 700,
  fillers: false,
  weight: 1,
  required: true,
  percentile: 100,
} as const;
