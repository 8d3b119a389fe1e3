import { EVALUATION_KEYS } from '../../evaluations.js';
import { WORD_FAULT_NAMES } from '../realtime/realtime-faults.js';
import { afterAttempt, attemptOf } from '../../../simulation/index.js';
import { TelephoneWords, telephoneExpectationOf, judgedTelephoneWords } from './telephone-words.js';
import { VoiceCalls } from './voice-call.js';
const calls = new VoiceCalls();
const words = new TelephoneWords(calls);
const total = Number(process.argv[2]);
const only = process.argv[3];
const faultyCells = WORD_FAULT_NAMES.flatMap((fault) =>
  EVALUATION_KEYS.filter((key) => telephoneExpectationOf({ fault, key }).outcome === 'failed').map((key) => ({
    fault,
    key,
  })),
);
const healthyCells = EVALUATION_KEYS.map((key) => ({ fault: undefined, key }));
const recognisers = new Map();
for (const key of EVALUATION_KEYS)
  recognisers.set(key, await words.recogniser(key, { wordErrors: 0.1, seed: Number(process.argv[4] ?? 1) }));
const tally: Record<string, number> = {};
const t0 = performance.now();
for (let n = 0; n < total; n++) {
  const isHealthy = only === 'healthy' || (only !== 'faulty' && n % 2 === 0);
  const list: any[] = isHealthy ? healthyCells : faultyCells;
  const cell = list[(only ? n : n >> 1) % list.length];
  const earlier: any[] = [];
  let result: any;
  const codes: string[] = [];
  for (;;) {
    result = await words.call({ ...cell, seed: 1 + (n % 5) }, recognisers.get(cell.key));
    const after: any = afterAttempt(result, earlier, () => 0);
    codes.push(`${result.outcome}:${result.failure?.code ?? ''}`);
    if (after.next === 'end') {
      result = after.result;
      break;
    }
    earlier.push(attemptOf(result, { startedAt: '', endedAt: '' }));
  }
  const k = `${isHealthy ? 'healthy' : 'faulty'} ${result.outcome} ${result.failure?.code ?? ''}`;
  tally[k] = (tally[k] ?? 0) + 1;
  const bad = (isHealthy && result.outcome === 'failed') || (!isHealthy && result.outcome === 'passed');
  if (bad || process.argv[5]) console.log(bad ? 'BAD' : 'ok', n, cell.fault, cell.key, codes.join(' '), result.reason);
  if (bad && process.argv[6])
    for (const e of result.timeline) if (e.type === 'speech') console.log('   ', e.start, e.speaker, e.text);
  if (n % 50 === 49) console.log(n + 1, Math.round((performance.now() - t0) / 1000), JSON.stringify(tally));
}
console.log(JSON.stringify(tally));
await words.close();
await calls.close();
