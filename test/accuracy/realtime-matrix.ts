import { createHash } from 'node:crypto';
import { type ModelCell, ModelCells, voiceAccuracy, type VoiceCalls } from '../simulators/agent/testing/voice.js';
import type { CallResult, RecordingSink } from '../../libs/simulation/index.js';
import { MISBEHAVING_MODELS, type MisbehavingModel } from '../simulators/model/misbehaving-models.js';
import { mapLimited } from './limited.js';
import { buildMatrix } from './matrix/matrix.js';
import { Progress } from './progress.js';
import { startRealtimeAgents } from './realtime-agent.js';
import { reasonAgainstVoice, VOICE_ROWS, voiceOfSeed, type VoiceRow } from './realtime-rows.js';
import { decisionOf } from './replay-hashes.js';

const SEEDS = [1, 2, 3];
const ATTEMPTS = 3;
/** Calls in real time that one process carries beside an agent on the same machine. */
const SOCKET_CALLS = 12;

interface Result {
  readonly about: string;
  readonly outcome: CallResult['outcome'];
  readonly expected: { readonly outcome: 'passed' | 'failed' };
  readonly isRight: boolean;
  readonly found: string;
  /** False if its repetition has another recording, wire log or decision. */
  readonly isAlike: boolean;
}

export interface RealtimeMatrix {
  readonly virtual: readonly Result[];
  readonly sockets: readonly Result[];
  readonly models: readonly Result[];
  /** Markdown. */
  readonly tables: { readonly matrix: string; readonly models: string };
}

/** The rows of the text matrix and the misbehaving models, over OpenAI Realtime. */
export async function measureRealtimeMatrix(calls: VoiceCalls): Promise<RealtimeMatrix> {
  const rows = await rowsOnTheClock(calls);
  const sockets = await rowsOverSockets(calls);
  const models = await misbehavingModels(calls);
  return {
    virtual: rows.flat(),
    sockets,
    models: models.flatMap(({ healthy, faulty }) => [healthy, faulty]),
    tables: { matrix: `${rowsTable(rows, sockets)}\n\n${await missingTable()}`, models: modelsTable(models) },
  };
}

/** Precision and recall of `failed`. */
export const accuracyLine = (where: string, results: readonly Result[]): string => {
  const { precision, recall } = voiceAccuracy(results);
  return `${where}: ${results.length} calls, failed: precision ${precision.toFixed(3)}, recall ${recall.toFixed(3)}`;
};

async function rowsOnTheClock(calls: VoiceCalls): Promise<Result[][]> {
  const progress = new Progress('Realtime matrix, in process', VOICE_ROWS.length);
  const results: Result[][] = [];
  for (const row of VOICE_ROWS) {
    const prepared = await row.agent(calls);
    const call = (seed: number) => (recording?: RecordingSink) =>
      calls.callRealtime(row.evaluation(seed), voiceOfSeed(seed), {
        ...{ prepared, ...(recording && { recording }) },
        ...(row.firstSpeaker && { firstSpeaker: row.firstSpeaker }),
      });
    const ofRow: Result[] = [];
    for (const seed of SEEDS) ofRow.push(await judgedTwice(row, call(seed), seed === 1));
    results.push(ofRow);
    progress.advance();
  }
  progress.end();
  return results;
}

async function rowsOverSockets(calls: VoiceCalls): Promise<Result[]> {
  const agents = await startRealtimeAgents(VOICE_ROWS);
  const progress = new Progress('Realtime matrix, over sockets', VOICE_ROWS.length);
  try {
    return await mapLimited(VOICE_ROWS, SOCKET_CALLS, async (row) => {
      const more = { protocol: 'openai-realtime', firstSpeaker: row.firstSpeaker ?? null } as const;
      for (let attempt = 1; ; attempt++) {
        const result = await calls.callOver(agents.urlOf(row), row.evaluation(1), voiceOfSeed(1), undefined, more);
        // As the service does, a call with a fault of the tester is tried again.
        if (result.failure?.code === 'tester_overloaded' && attempt < ATTEMPTS) continue;
        progress.advance();
        return judged(row, result, true);
      }
    });
  } finally {
    progress.end();
    await agents.close();
  }
}

interface MeasuredModel {
  readonly name: string;
  readonly model: MisbehavingModel | undefined;
  readonly healthy: Result;
  readonly faulty: Result;
}

/** With a criterion that decides; the well-behaved model also twice. */
async function misbehavingModels(calls: VoiceCalls): Promise<MeasuredModel[]> {
  const cells = new ModelCells(calls);
  const list = [undefined, ...MISBEHAVING_MODELS];
  const progress = new Progress('Realtime, misbehaving models', list.length);
  const play = async (model: MisbehavingModel | undefined, isFaulty: boolean): Promise<Result> => {
    const cell: ModelCell = { ...(model && { model }), isFaulty, by: 'criterion' };
    const allowed = isFaulty ? (model?.faulty ?? ['failed']) : (model?.healthy ?? ['passed']);
    const call = (recording?: RecordingSink) => cells.call(cell, recording);
    const { result, isAlike } = model ? { result: await call(), isAlike: true } : await twice(call);
    const about = `${nameOf(model)}, ${isFaulty ? 'faulty' : 'healthy'} agent`;
    return {
      ...{ about, outcome: result.outcome, isAlike, found: `${result.outcome}. ${result.reason}` },
      expected: { outcome: !model && isFaulty ? 'failed' : 'passed' },
      isRight: allowed.includes(result.outcome),
    };
  };
  try {
    const measured: MeasuredModel[] = [];
    for (const model of list) {
      measured.push({
        ...{ name: nameOf(model), model },
        ...{ healthy: await play(model, false), faulty: await play(model, true) },
      });
      progress.advance();
    }
    return measured;
  } finally {
    progress.end();
    await cells.close();
  }
}

const nameOf = (model: MisbehavingModel | undefined): string =>
  model ? `${model.task}: ${model.name}` : 'model: behaves well';

type Call = (recording?: RecordingSink) => Promise<CallResult>;

/** A call, and whether it has the same recording, wire log and decision when it is repeated. */
async function twice(call: Call): Promise<{ readonly result: CallResult; readonly isAlike: boolean }> {
  const [first, second] = [await hashed(call), await hashed(call)];
  return { result: first.result, isAlike: first.hash === second.hash };
}

/** A call, and the hash of its recording, wire log, decision and measures. */
export async function hashed(call: Call): Promise<{ readonly result: CallResult; readonly hash: string }> {
  const hash = createHash('sha256');
  const lines: string[] = [];
  const result = await call({
    audio: (part) => void hash.update(part),
    wire: (more) => void lines.push(...more),
  });
  hash.update(lines.join('\n')).update(decisionOf(result));
  return { result, hash: hash.digest('hex') };
}

async function judgedTwice(row: VoiceRow, call: Call, isRepeated: boolean): Promise<Result> {
  if (!isRepeated) return judged(row, await call(), true);
  const { result, isAlike } = await twice(call);
  return judged(row, result, isAlike);
}

const judged = (row: VoiceRow, result: CallResult, isAlike: boolean): Result => ({
  ...{ about: titleOf(row), outcome: result.outcome, isAlike },
  expected: { outcome: row.right === 'failed' ? 'failed' : 'passed' },
  isRight: result.outcome === row.right && row.isFound(result),
  found: `${result.outcome} (${result.failure?.code ?? result.end.code}). ${result.reason}`,
});

const titleOf = ({ group, name, check }: VoiceRow): string => `${group}: ${name}${check ? ` (${check})` : ''}`;

const cells = (...texts: readonly (string | number)[]): string => `| ${texts.join(' | ')} |`;
const rightOf = (results: readonly Result[]): string =>
  `${results.filter(({ isRight }) => isRight).length} of ${results.length}`;

function rowsTable(virtual: readonly (readonly Result[])[], sockets: readonly Result[]): string {
  const head = [
    cells('Row of the matrix', 'Right outcome', 'Right, virtual clock', 'Right, sockets'),
    '| --- | --- | --: | --: |',
  ];
  const lines = VOICE_ROWS.map((row, index) =>
    cells(titleOf(row), row.right, rightOf(virtual[index]!), rightOf([sockets[index]!])),
  );
  return [...head, ...lines].join('\n');
}

/** The rows of the text matrix that no voice call shows, by reason. */
async function missingTable(): Promise<string> {
  const matrix = await buildMatrix();
  await matrix.close();
  const byReason = new Map<string, string[]>();
  for (const row of matrix.rows) {
    const reason = reasonAgainstVoice(row);
    if (reason !== undefined) byReason.set(reason, [...(byReason.get(reason) ?? []), row.name]);
  }
  const lines = [...byReason].map(([reason, names]) => cells(reason, names.join(', ')));
  return [cells('Not over voice, because it is', 'Rows of the matrix'), cells('---', '---'), ...lines].join('\n');
}

function modelsTable(models: readonly MeasuredModel[]): string {
  const head = [cells('Model', 'Healthy agent', 'Faulty agent', 'Right'), '| --- | --- | --- | --: |'];
  const lines = models.map(({ name, healthy, faulty }) =>
    cells(name, healthy.outcome, faulty.outcome, rightOf([healthy, faulty])),
  );
  return [...head, ...lines].join('\n');
}
