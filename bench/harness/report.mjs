// The results as Markdown.
import { median, ratios, spread } from './statistics.mjs';
import { SUBJECTS } from './subjects.mjs';
import { targets } from './targets.mjs';
import { SMALL_LIST } from './works.mjs';

const TITLES = Object.fromEntries(SUBJECTS.map(({ name, title }) => [name, title]));
const MET = new Map([
  [true, 'met'],
  [false, '**missed**'],
  [undefined, 'not measured'],
]);

const table = (head, rows) =>
  [head, head.map((_, i) => (i === 0 ? '---' : '---:')), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
const whole = (value) => (value >= 10 ? Math.round(value).toLocaleString('en') : value.toFixed(1));
const ms = (value) => (value >= 100 ? Math.round(value).toLocaleString('en') : value.toFixed(1));
const times = ({ median, low, high }) => `${median.toFixed(2)}× (${low.toFixed(2)}–${high.toFixed(2)})`;
const seconds = (values) => {
  const { median, low, high } = spread(values);
  return `${(median / 1000).toFixed(2)} s (${(low / 1000).toFixed(2)}–${(high / 1000).toFixed(2)})`;
};

/** @param run what `run.mjs` has measured */
export function report(run) {
  const { machine, plan } = run;
  return `# Benchmark

${plan.name === 'quick' ? 'A **quick** run: few and short rounds, good for a first look only. ' : ''}Written by \`npm run bench\`; \
[docs/performance.md](../../docs/performance.md) says what is measured and how to read it.

Machine: ${machine.cores} cores (${machine.cpu}), ${machine.memoryGb} GB, ${machine.system}; Node ${machine.node}, \
PostgreSQL ${machine.postgres}. Servers, database and client shared it. ${plan.rounds} rounds of ${plan.roundMs} ms for \
each figure, in turn; medians, with the lowest and the highest round in brackets.

![Requests per second in relation to Express](latest.svg)

## Targets

${table(
  ['Target', 'Measured (connections: ratio)', ''],
  targets(run).map(({ target, measured, isMet }) => [target, measured, MET.get(isMet)]),
)}

## Requests per second

Ratio: this service to Express, round by round. A dash: so slow that so many connections are not worth asking.

${throughput(run.cells)}

## Latency, 99th percentile in milliseconds

${latency(run.cells)}

## Growth

Requests per second of this service for 25 of 1,000 and for pages of 1,000,000, in turn; ratio: to 25 of 1,000.

${table(['Work', 'Connections', 'Requests per second', 'Ratio'], run.growth.flatMap(growthRows))}

## Start

${table(
  ['', 'Time to the first answer'],
  [
    ...Object.entries(run.starts).map(([name, values]) => [TITLES[name], seconds(values)]),
    ['This service, embedded database that exists', seconds(run.embedded.existing)],
    ['This service, embedded database to be made', seconds(run.embedded.first)],
  ],
)}

## Resident memory

${table(
  ['', 'Idle', 'Most under load'],
  Object.keys(run.memory.idle).map((name) => [
    TITLES[name],
    megabytes(run.memory.idle[name]),
    megabytes(run.memory.loaded[name]),
  ]),
)}

## Logs

32 connections, one line per request into a file (Express with pino-http); ratio: with to without.

${table(['', 'Without', 'With', 'Ratio'], logRows(run.logs))}

## Processes

32 connections over one process of this service, and over two.

${table(
  ['', 'One', 'Two', 'Ratio'],
  Object.entries(run.processes).map(([work, { one, two }]) => [
    work,
    whole(median(one.rate)),
    whole(median(two.rate)),
    times(ratios(two.rate, one.rate)),
  ]),
)}
`;
}

const throughput = (cells) => byWork(cells, 'rate', (result) => whole(median(result.rate)) + errorsOf(result));
const latency = (cells) => byWork(cells, 'p99', (result) => ms(median(result.p99)));

/** A row for each work and number of connections, with a figure of each subject and the ratio to Express. */
function byWork(cells, measured, shown) {
  const rows = cells.map(({ title, connections, results }) => {
    const { service, express } = results;
    const figures = SUBJECTS.map(({ name }) => (results[name] ? shown(results[name]) : '–'));
    return [
      title,
      connections,
      ...figures,
      service && express ? times(ratios(service[measured], express[measured])) : '–',
    ];
  });
  return table(['Work', 'Connections', ...Object.values(TITLES), 'Ratio'], rows);
}

const growthRows = ({ connections, results }) =>
  Object.entries(results).map(([work, { rate }]) => [
    work,
    connections,
    whole(median(rate)),
    work === SMALL_LIST ? '' : times(ratios(rate, results[SMALL_LIST].rate)),
  ]);

const logRows = (logs) =>
  Object.entries(logs).flatMap(([work, results]) =>
    ['service', 'express'].map((name) => {
      const [without, withLog] = [results[name].rate, results[`${name}+log`].rate];
      return [
        `${TITLES[name]}, ${work}`,
        whole(median(without)),
        whole(median(withLog)),
        times(ratios(withLog, without)),
      ];
    }),
  );

const errorsOf = ({ errors }) => (errors > 0 ? ` (${errors} errors)` : '');
const megabytes = (value) => (value === undefined ? 'unknown' : `${Math.round(value)} MB`);
