/**
 * `npm run accuracy:alarms [-- HISTORIES]`: how many false alarms a schedule has in 100 weeks, and how soon falls are found, in
 * 2,000 simulated histories of each kind.
 */
import {
  alarmsOf,
  CONDITIONS,
  generator,
  MAX_FALSE_ALARMS,
  meanBound,
} from '../../libs/statistics/testing/schedule-history.js';

const HISTORIES = Number(process.argv[2] ?? 2_000);
const NIGHTS = 700;
const MAX_CORRELATED = 1.2;
const FALLS = [
  [0.95, 0.8],
  [1, 0.8],
  [1, 0.9],
  [0.8, 0.6],
  [0.95, 0.9],
] as const;
const HEALTHY = 60;

console.log('False alarms in 100 weeks of a nightly schedule: mean, upper 95 % bound');
for (const { rate, correlation, cases, calls } of CONDITIONS) {
  const counts = Array.from({ length: HISTORIES }, (_, seed) => {
    const plan = {
      nights: NIGHTS,
      cases,
      calls,
      night: () => ({ rate, correlation }),
      hasLatencies: cases * calls === 5,
    };
    return alarmsOf(plan, generator(seed)).length;
  });
  const mean = counts.reduce((sum, count) => sum + count, 0) / HISTORIES;
  const bound = meanBound(counts);
  const isMet = bound <= (correlation > 0 ? MAX_CORRELATED : MAX_FALSE_ALARMS);
  if (!isMet) process.exitCode = 1;
  const what = `pass rate ${rate}, ${cases} × ${calls} calls, correlation ${correlation}`;
  console.log(`${what.padEnd(52)}${mean.toFixed(3)}  ${bound.toFixed(3)}  ${isMet ? 'ok' : 'TOO MANY'}`);
}
console.log(`\nNights until the alarm, 20 calls a night after ${HEALTHY} healthy nights: median, nine in ten`);
for (const [from, to] of FALLS) {
  const nights = Array.from({ length: HISTORIES }, (_, seed) => {
    const plan = {
      nights: HEALTHY + 100,
      cases: 1,
      calls: 20,
      night: (at: number) => ({ rate: at < HEALTHY ? from : to }),
    };
    return 1 + (alarmsOf(plan, generator(seed)).find((at) => at >= HEALTHY) ?? Infinity) - HEALTHY;
  }).sort((a, b) => a - b);
  const shown = [0.5, 0.9].map((share) => String(nights[Math.ceil(share * HISTORIES) - 1]).padStart(9));
  console.log(`${`${from} → ${to}`.padEnd(14)}${shown.join('')}`);
}
