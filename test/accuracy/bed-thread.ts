/** A thread that makes calls of agents with a bed on the virtual clock: it answers each cell with a `BedResult`. */
import { once } from 'node:events';
import { type MessagePort, parentPort } from 'node:worker_threads';
import { evaluationOf, LINES, VoiceCalls, voiceOfCell } from '../simulators/agent/testing/voice.js';
import { readFacts } from '../../libs/simulation/index.js';
import { uncertaintyWithin } from '../../libs/simulation/testing/measures.js';
import type { BedCell, BedResult } from './bed-cells.js';
import { Beds } from './beds.js';
import { mixing } from './mixing-agent.js';

/** Active level of the agent's voice, which is never less than so far above the bed. */
const VOICE_DBFS = -24;
const LEAST_ABOVE_DB = 12;
/** A shorter silence does not end a turn. */
const TURN_END_MS = 700;

interface Turn {
  startMs: number;
  endMs: number;
}

/** Sounds with shorter silences between them are one line. */
function turnsOf(sounds: readonly Turn[]): Turn[] {
  const turns: Turn[] = [];
  for (const { startMs, endMs } of sounds) {
    const last = turns.at(-1);
    if (last && startMs - last.endMs < TURN_END_MS) last.endMs = endMs;
    else turns.push({ startMs, endMs });
  }
  return turns;
}

const overlaps = (a: Turn, b: Turn) => a.startMs < b.endMs && b.startMs < a.endMs;

async function call(calls: VoiceCalls, beds: Beds, cell: BedCell): Promise<BedResult> {
  const spoken: Turn[] = [];
  const voiceCell = { ...cell, line: LINES[0] };
  let json = '';
  const { outcome, reason, measures } = await calls.call(evaluationOf(voiceCell), voiceOfCell(voiceCell), {
    fault: cell.fault,
    recording: { audio: () => undefined, wire: () => undefined, facts: (stored) => (json = stored) },
    around: (agent) =>
      mixing(agent, {
        bed: beds.source(cell.bed, cell.dbfs, cell.seed),
        mode: cell.mode,
        gainDb: Math.max(0, cell.dbfs + LEAST_ABOVE_DB - VOICE_DBFS),
        onSound: (startMs, endMs) => spoken.push({ startMs, endMs }),
      }),
  });
  // What the end of the call cut off has no end of its own.
  const lines = turnsOf(spoken).filter(({ endMs }) => endMs < measures.durationMs - TURN_END_MS);
  const facts = readFacts(json)!;
  const heard = turnsOf(facts.agent);
  const found = lines.map((line) => ({ line, heard: heard.filter((turn) => overlaps(turn, line)) }));
  const difference = (ms: number, trueMs: number) => {
    const { plusMinusMs } = uncertaintyWithin(facts, { startMs: ms, endMs: ms });
    return { ms: ms - trueMs, plusMinusMs };
  };
  const isUnended = (turn: Turn) => lines.filter((line) => overlaps(turn, line)).length > 1;
  const matched = found.flatMap(({ line, heard: [only, ...more] }) =>
    only && more.length === 0 && !isUnended(only) ? [{ line, only }] : [],
  );
  return {
    cell,
    outcome,
    reason,
    lines: lines.length,
    missed: found.filter((one) => one.heard.length === 0).length,
    falseEnds: found.filter((one) => one.heard.length > 1).length,
    unended: heard.filter(isUnended).length,
    onsets: matched.map(({ line, only }) => difference(only.startMs, line.startMs)),
    ends: matched.map(({ line, only }) => difference(only.endMs, line.endMs)),
  };
}

async function serve(port: MessagePort): Promise<never> {
  const calls = new VoiceCalls();
  await calls.prepare();
  const beds = await Beds.prepare(calls.synthesiser);
  port.postMessage('ready');
  for (;;) {
    const [cell] = (await once(port, 'message')) as [BedCell];
    port.postMessage(await call(calls, beds, cell));
  }
}

await serve(parentPort!);
