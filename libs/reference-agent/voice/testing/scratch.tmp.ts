import { EVALUATION_KEYS } from '../../evaluations.js';
import { TelephoneWords, telephoneExpectationOf } from './telephone-words.js';
import { VoiceCalls } from './voice-call.js';
import { isExpected } from '../expected.js';
const calls = new VoiceCalls();
const words = new TelephoneWords(calls);
const faults =
  process.argv[2] === 'all'
    ? [undefined, ...(await import('../realtime/realtime-faults.js')).WORD_FAULT_NAMES]
    : [process.argv[2] || undefined];
const t0 = performance.now();
const behaviour = process.argv[4] ? JSON.parse(process.argv[4]) : {};
const keys = process.argv[3] && process.argv[3] !== 'all' ? [process.argv[3]] : EVALUATION_KEYS;
for (const key of keys) {
  const recogniser = await words.recogniser(key as any, behaviour);
  console.log(key, 'listener', Math.round(performance.now() - t0));
  for (const fault of faults as any[]) {
    const result = await words.call({ fault, key: key as any, seed: 1 }, recogniser);
    const failed = result.checks.filter(({ met }) => met === false).map(({ name }) => name);
    const right = isExpected(telephoneExpectationOf({ fault, key: key as any }) as any, {
      outcome: result.outcome,
      endCode: result.end.code,
      failed,
    });
    console.log(
      right ? 'ok   ' : 'WRONG',
      fault,
      key,
      Math.round(performance.now() - t0),
      result.outcome,
      result.failure?.code,
      right ? '' : result.reason,
    );
    if (process.argv[5])
      for (const e of result.timeline)
        if (e.type === 'speech' || e.type === 'end' || e.type === 'error')
          console.log(
            '   ',
            (e as any).start,
            (e as any).speaker,
            (e as any).text ?? (e as any).message ?? (e as any).reason,
            (e as any).words,
          );
  }
}
await words.close();
await calls.close();
