import { evaluationOf, VoiceCalls, voiceOfCell } from '../../libs/reference-agent/testing/voice.js';
import { imported } from '../../libs/reference-agent/voice/testing/imported.js';
import { roundTripOf } from '../../libs/reference-agent/voice/testing/round-trip.js';
import { storedCells } from './replay-cells.js';
const every = Number(process.argv[2] ?? 20), offset = Number(process.argv[3] ?? 0);
const hasTranscript = process.argv[4] !== 'no';
const calls = new VoiceCalls(); await calls.prepare();
const errs: number[] = [];
let n=0, diff=0, und=0;
for (const [i, [name, cell]] of [...storedCells()].entries()) {
  if (i % every !== offset) continue;
  const evaluation = evaluationOf(cell);
  const conditions = { ...evaluation.conditions, ...(cell.packetLossPercent && { packetLossPercent: cell.packetLossPercent }) };
  const definition = { ...evaluation, conditions };
  const audio: Uint8Array[] = [];
  const made = await calls.call(definition, voiceOfCell(cell), { fault: cell.fault, ...(cell.stall && {stalls:[cell.stall]}), recording: { audio: (p) => audio.push(p), wire: () => undefined } });
  if (!made.voice || audio.length===0) { console.log(name, 'no voice', made.outcome); continue; }
  const again = await imported(made, definition, { audio }, { hasTranscript });
  const trip = roundTripOf(made, again);
  for (const t of trip) { n++; if (/^latency \d+$/.test(t.measure) && typeof t.made==='number' && typeof t.imported==='number' && !cell.packetLossPercent) errs.push(t.imported-t.made);
    if (t.verdict==='different') { diff++; console.log('DIFF', name, t.measure, t.made, t.imported, t.plusMinusMs); } if (t.verdict==='undecided') {und++; console.log('und', name, t.measure, t.made);} }
  if (process.argv[5]) console.log(name, made.outcome, made.reason.slice(0,100), '=>', again.outcome, again.reason.slice(0,160));
}
errs.sort((a,b)=>a-b);
console.log({n,diff,und}, 'clean latency error', errs[0], errs[Math.floor(errs.length/2)], errs.at(-1), errs.map(x=>x.toFixed(1)).join(' '));
await calls.close();
