import {
  faultTable,
  judgedRealtime,
  LINES,
  type RealtimeCell,
  type RealtimeCellResult,
  realtimeCells,
  RealtimeCells,
  realtimeEvaluationOf,
  realtimeVoiceOf,
  voiceAccuracy,
  VoiceCalls,
  WORD_FAULT_NAMES,
  WORD_PLATFORM_FAULTS,
  WORD_SESSION,
  type WordPlatform,
} from '../simulators/agent/testing/voice.js';
import type { RecordingSink } from '../../libs/simulation/index.js';
import { measurePlatformText, type TextPlatform } from './platform-text.js';
import { mapLimited } from './limited.js';
import { Progress } from './progress.js';
import { startRealtimeAgents } from './realtime-agent.js';
import { accuracyLine, hashed, measureRealtimeMatrix } from './realtime-matrix.js';
import { replaceTable, writeRows } from './guide.js';

const SEEDS = 3;
const ATTEMPTS = 3;
/** Calls in real time that one process carries beside an agent on the same machine. */
const SOCKET_CALLS = 12;

const print = (line = ''): void => void process.stdout.write(`${line}\n`);

/** Calls of the reference agent as a Realtime server; prints the tables. @returns whether the limits hold */
export const measureRealtime = (isWritten: boolean): Promise<boolean> => measure('openai-realtime', isWritten);

/** Calls of the reference agent as one of ElevenLabs; prints the tables. @returns whether the limits hold */
export const measureElevenLabs = (isWritten: boolean): Promise<boolean> => measure('elevenlabs', isWritten);

/** Calls of the reference agent as an assistant of Vapi; prints the tables. @returns whether the limits hold */
export const measureVapi = (isWritten: boolean): Promise<boolean> => measure('vapi', isWritten);

/** Calls of the reference agent as a bot of Pipecat; prints the tables. @returns whether the limits hold */
export const measurePipecat = (isWritten: boolean): Promise<boolean> => measure('pipecat', isWritten);

/** Calls of a platform in text, alone. @returns whether the limits hold */
const measureTextAlone = (platform: TextPlatform) => (isWritten: boolean) => {
  const calls = new VoiceCalls();
  return measureText(calls, isWritten, platform).finally(() => calls.close());
};
export const measureElevenLabsText = measureTextAlone('elevenlabs');
export const measureRetell = measureTextAlone('retell');

const TABLES: Readonly<Record<WordPlatform, string>> = {
  ...{ 'openai-realtime': 'realtime', elevenlabs: 'elevenlabs', vapi: 'vapi', pipecat: 'pipecat' },
};

async function measure(platform: WordPlatform, isWritten: boolean): Promise<boolean> {
  const calls = new VoiceCalls();
  try {
    await calls.prepare();
    const { results: virtual, unlike } = await inProcess(calls, platform);
    const sockets = await overSockets(calls, platform);
    const table = tableOf(platform, virtual, sockets);
    print(`\n${platform}\n\n${table}`);
    for (const { where, results } of [
      { where: 'virtual clock', results: virtual },
      { where: 'sockets', results: sockets },
    ]) {
      const { precision, recall } = voiceAccuracy(results);
      print(
        `${where}: ${results.length} calls, failed: precision ${precision.toFixed(3)}, recall ${recall.toFixed(3)}`,
      );
      for (const { about, fault, key, line, seed, found } of results.filter(({ isRight }) => !isRight)) {
        print(`WRONG  ${about}: ${fault ?? 'healthy'} in ${key}, ${line}, seed ${seed}: ${found}`);
      }
    }
    for (const { fault, key, line } of unlike) {
      print(
        `UNLIKE  ${fault ?? 'healthy'} in ${key}, ${line}: its repetition has another recording, wire log or decision`,
      );
    }
    if (isWritten) await writeRows(TABLES[platform], table);
    // The rows of the matrix are about words, which both platforms report in the same way.
    const isRestRight = await restOf(calls, isWritten, platform);
    return [...virtual, ...sockets].every(({ isRight }) => isRight) && unlike.length === 0 && isRestRight;
  } finally {
    await calls.close();
  }
}

/** What is measured beside the voice calls of a platform. @returns whether the limits hold */
async function restOf(calls: VoiceCalls, isWritten: boolean, platform: WordPlatform): Promise<boolean> {
  if (platform === 'openai-realtime') return measureMatrix(calls, isWritten);
  return platform === 'pipecat' || measureText(calls, isWritten, platform);
}

/** The platform's protocol of text; for ElevenLabs also the table of what voice and text show. @returns whether the limits hold */
async function measureText(calls: VoiceCalls, isWritten: boolean, platform: TextPlatform): Promise<boolean> {
  const { table, isRight, protocol } = await measurePlatformText(calls, platform);
  print(`\n${protocol}\n\n${table}`);
  if (isWritten) {
    await writeRows(protocol, table);
    if (platform === 'elevenlabs') await replaceTable('faults', faultTable(), 'elevenlabs.md');
  }
  return isRight;
}

/** @returns whether the limits hold */
async function measureMatrix(calls: VoiceCalls, isWritten: boolean): Promise<boolean> {
  const { virtual, sockets, models, tables } = await measureRealtimeMatrix(calls);
  print(`\nMatrix over OpenAI Realtime\n\n${tables.matrix}\n\n${tables.models}`);
  print(accuracyLine('virtual clock', virtual));
  print(accuracyLine('sockets', sockets));
  print(accuracyLine('misbehaving models', models));
  const all = [...virtual, ...sockets, ...models];
  for (const { about, found } of all.filter(({ isRight }) => !isRight)) print(`WRONG  ${about}: ${found}`);
  for (const { about } of all.filter(({ isAlike }) => !isAlike)) {
    print(`UNLIKE  ${about}: its repetition has another recording, wire log or decision`);
  }
  if (isWritten) {
    await writeRows('realtime-matrix', tables.matrix);
    await writeRows('realtime-models', tables.models);
  }
  return all.every(({ isRight, isAlike }) => isRight && isAlike);
}

/** Every cell on the virtual clock; those of the first seed twice. */
async function inProcess(calls: VoiceCalls, platform: WordPlatform) {
  const cells = new RealtimeCells(calls);
  const list = realtimeCells(SEEDS, platform);
  const progress = new Progress(`${platform}, in process`, list.length);
  const results: RealtimeCellResult[] = [];
  const unlike: RealtimeCell[] = [];
  for (const cell of list) {
    const call = (recording?: RecordingSink) => cells.call(cell, recording);
    const first = await hashed(call);
    results.push(judgedRealtime(cell, first.result));
    if (cell.seed === 1 && (await hashed(call)).hash !== first.hash) unlike.push(cell);
    progress.advance();
  }
  progress.end();
  return { results, unlike };
}

type SocketCall = readonly [RealtimeCell['about'], string | undefined, string];

/** These calls take real time, so they are few: agents without a fault, and each fault of words, some of voice and protocol. */
const ON_SOCKETS: readonly SocketCall[] = [
  ['words', undefined, 'house-facts'],
  ['words', undefined, 'books-a-table'],
  ['words', 'wrong-fact', 'house-facts'],
  ['words', 'forgets-detail', 'all-details-at-once'],
  ['words', 'ignores-correction', 'changes-mind'],
  ['words', 'loops', 'house-facts'],
  ['words', 'wrong-tool-argument', 'books-a-table'],
  ['words', 'skips-tool', 'books-a-table'],
  ['words', 'skips-confirmation', 'declines'],
  ['words', 'double-booking', 'fully-booked'],
  ['words', 'hangs-up-early', 'books-a-table'],
  ['words', 'talks-too-much', 'answers-in-time'],
  ['words', 'leaks-prompt', 'keeps-its-prompt'],
  ['words', 'never-ends', 'says-goodbye'],
  ['words', 'silence', 'house-facts'],
  ['voice', undefined, 'phone-barge-in'],
  ['voice', undefined, 'phone-listening'],
  ['voice', 'ignores-barge-in', 'phone-barge-in'],
  ['voice', 'dead-air', 'phone-pauses'],
];
/** Those that only one platform has. */
const OF_PLATFORM: Readonly<Record<WordPlatform, readonly SocketCall[]>> = {
  'openai-realtime': [
    ['voice', 'false-speech-start', 'phone-pauses'],
    ['voice', 'cuts-answer', 'phone-pauses'],
    ['voice', 'no-answer', 'phone-pauses'],
  ],
  elevenlabs: [
    ['voice', 'false-interruption', 'phone-pauses'],
    ['voice', 'audio-after-interruption', 'phone-barge-in'],
    ['voice', 'wrong-correction', 'phone-barge-in'],
    ['voice', 'no-answer-events', 'phone-pauses'],
    ['voice', 'stops-answering', 'phone-pauses'],
    ['voice', 'error-message', 'phone-pauses'],
  ],
  vapi: [
    ['voice', 'false-interruption', 'phone-pauses'],
    ['voice', 'no-word-messages', 'phone-pauses'],
    ['voice', 'stops-answering', 'phone-pauses'],
    ['voice', 'broken-message', 'phone-pauses'],
  ],
  pipecat: [
    ['voice', 'no-rtvi', 'phone-pauses'],
    ['voice', 'no-clear', 'phone-barge-in'],
    ['voice', 'stops-answering', 'phone-pauses'],
    ['voice', 'broken-frame', 'phone-pauses'],
    ['voice', 'changes-rate', 'phone-pauses'],
  ],
};

const socketCells = (platform: WordPlatform): RealtimeCell[] =>
  [...ON_SOCKETS, ...OF_PLATFORM[platform]].map(([about, fault, key]) => {
    const isSame = (cell: RealtimeCell) => cell.about === about && cell.fault === fault && cell.key === key;
    return realtimeCells(1, platform).find((cell) => isSame(cell) && cell.line === LINES[0])!;
  });

async function overSockets(calls: VoiceCalls, platform: WordPlatform): Promise<RealtimeCellResult[]> {
  const cells = socketCells(platform);
  const agent = await startRealtimeAgents(cells, platform);
  const progress = new Progress(`${platform}, over sockets`, cells.length);
  try {
    return await mapLimited(cells, SOCKET_CALLS, async (cell) => {
      const url = agent.urlOf(cell);
      const isSession = platform === 'openai-realtime' && cell.about === 'words';
      const ofPlatform = platform === 'pipecat' ? { functionCalls: 'shown' } : {};
      const options = isSession ? { session: WORD_SESSION } : ofPlatform;
      const more = { protocol: platform, options, assistantId: `booking:${cell.fault ?? 'healthy'}` };
      for (let attempt = 1; ; attempt++) {
        const result = await calls.callOver(url, realtimeEvaluationOf(cell), realtimeVoiceOf(cell), undefined, more);
        // As the service does, a call with a fault of the tester is tried again.
        if (result.failure?.code === 'tester_overloaded' && attempt < ATTEMPTS) continue;
        progress.advance();
        return judgedRealtime(cell, result);
      }
    });
  } finally {
    progress.end();
    await agent.close();
  }
}

const row = (texts: readonly (string | number)[]): string => `| ${texts.join(' | ')} |`;
const rightOf = (results: readonly RealtimeCellResult[]): string =>
  results.length === 0 ? '-' : `${results.filter(({ isRight }) => isRight).length} of ${results.length}`;

function tableOf(
  platform: WordPlatform,
  virtual: readonly RealtimeCellResult[],
  sockets: readonly RealtimeCellResult[],
): string {
  const rows = (['words', 'voice'] as const).flatMap((about) => {
    const faults = about === 'words' ? WORD_FAULT_NAMES : WORD_PLATFORM_FAULTS[platform];
    return [undefined, ...faults].flatMap((fault) =>
      LINES.slice(0, fault || about === 'words' ? 1 : LINES.length).map((line) => {
        const of = (results: readonly RealtimeCellResult[]) =>
          results.filter((one) => one.about === about && one.fault === fault && one.line === line);
        const first = of(virtual).filter(({ seed }) => seed === 1);
        const failing = first.filter(({ expected }) => expected.outcome === 'failed').length;
        const name = fault ?? (line === LINES[0] ? 'none' : `none; ${line}`);
        return row([about, name, `${failing} of ${first.length}`, rightOf(of(virtual)), rightOf(of(sockets))]);
      }),
    );
  });
  const head = row(['Evaluations', 'Fault', 'Must fail', 'Right, virtual clock', 'Right, sockets']);
  return [head, '| --- | --- | --: | --: | --: |', ...rows].join('\n');
}
