// The targets, and the report in bench/results/latest.md.
const ratio = ({ a, b, ratio }) =>
  `${ratio.toFixed(2)}× (${Math.round(a).toLocaleString('en')} to ${Math.round(b).toLocaleString('en')} requests/s)`;
const atLeast = (name, minimum, result) => ({
  target: `${name} ≥ ${minimum.toFixed(1)}×`,
  measured: ratio(result),
  isMet: result.ratio >= minimum,
});
const limit = (target, value, isMet, unit, digits = 0) => ({
  target,
  measured: `${value.toFixed(digits)} ${unit}`,
  isMet: isMet(value),
});

const memoryLimit = (load, { largest, sum }) => ({
  target: `Peak resident memory of each process, ${load} ≤ 220 MB`,
  measured: `${largest.toFixed(0)} MB, ${sum.toFixed(0)} MB in all`,
  isMet: largest <= 220,
});

/** @returns `{ target, measured, isMet }` for each target */
export function targets({ rates, pages, deep, startMs, memory, calls }) {
  const share = (100 * calls.waiting.pace) / calls.ideal;
  return [
    atLeast('GET one agent, to Express + pg', 1, rates.get),
    atLeast('List 25 of 1,000 agents, to Express + pg', 1, rates.list),
    atLeast('Create an agent, to Express + pg', 0.9, rates.create),
    atLeast('Patch an agent, to Express + pg', 0.9, rates.patch),
    atLeast('First page of 1,000,000, to first page of 1,000', 0.8, pages),
    limit(`Slowest deep page of 1,000,000 (page ${deep.page}) ≤ 250 ms`, deep.ms, (ms) => ms <= 250, 'ms'),
    limit('Start on an existing database ≤ 2.5 s', startMs / 1000, (s) => s <= 2.5, 's', 2),
    memoryLimit('requests', memory.requests),
    memoryLimit(`${calls.concurrency} calls at once`, memory.calls),
    limit('Text calls of an instant agent ≥ 200 per second', calls.instant.rate, (n) => n >= 200, 'per second'),
    limit(`Pace with ${calls.concurrency} calls at once ≥ 90 % of ideal`, share, (n) => n >= 90, '%'),
  ];
}

export const summary = (rows) =>
  rows.map(({ target, measured, isMet }) => `${isMet ? 'met   ' : 'MISSED'} ${target}: ${measured}`).join('\n');

export function report(rows, { plan, machine, seconds }) {
  const lines = rows.map(
    ({ target, measured, isMet }) => `| ${target} | ${measured} | ${isMet ? 'met' : '**missed**'} |`,
  );
  return `# Benchmark

Written by \`npm run bench\`; see [docs/performance.md](../../docs/performance.md).

${machine}. ${plan.rounds} rounds of ${plan.seconds} s in turn, 32 connections, medians; ${Math.round(seconds / 60)} minutes in total.

| Target | Measured | |
| --- | ---: | --- |
${lines.join('\n')}
`;
}
