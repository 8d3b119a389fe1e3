// What the service wants to reach, and whether it did.
import { ratios, spread } from './statistics.mjs';
import { CONNECTIONS, SMALL_LIST } from './works.mjs';

const times = ({ median, low, high }) => `${median.toFixed(2)}× (${low.toFixed(2)}–${high.toFixed(2)})`;

/**
 * @param run what `run.mjs` has measured
 * @returns `{ target, measured, isMet }`, isMet undefined where it could not be measured
 */
export function targets(run) {
  const cell = (work, connections) =>
    run.cells.find((one) => one.work === work && one.connections === connections)?.results;

  /** Against Express, at each number of connections. */
  const against = (target, works, least) => {
    const found = works.flatMap((work) =>
      CONNECTIONS.flatMap((connections) => {
        const results = cell(work, connections);
        if (!results?.service || !results.express) return [];
        const where = works.length > 1 ? `${work}, ${connections}` : `${connections}`;
        return [{ where, ratio: ratios(results.service.rate, results.express.rate) }];
      }),
    );
    return judged(target, found, ({ median }) => median >= least);
  };

  const large = run.growth.flatMap(({ connections, results: { [SMALL_LIST]: small, ...pages } }) =>
    Object.entries(pages).map(([work, { rate }]) => ({
      where: `${work}, ${connections}`,
      ratio: ratios(rate, small.rate),
    })),
  );
  const latencies = ['get-one', 'list-1k', 'list-1k-provider', 'list-1k-search', 'create', 'patch'].flatMap((where) => {
    const results = cell(where, 32);
    return results?.service && results.express
      ? [{ where, ratio: ratios(results.service.p99, results.express.p99) }]
      : [];
  });
  const two = Object.entries(run.processes).map(([where, { one, two }]) => ({
    where,
    ratio: ratios(two.rate, one.rate),
  }));
  const start = spread(run.embedded.existing);
  const memory = run.memory.loaded.service;
  return [
    against('GET one agent ≥ 1.0× Express', ['get-one'], 1),
    against('List 25 of 1,000 ≥ 1.0× Express', ['list-1k'], 1),
    judged('List 25 of 1,000,000 ≥ 0.8× its own figure at 1,000', large, ({ median }) => median >= 0.8),
    against('Create ≥ 0.9× Express', ['create'], 0.9),
    against('Patch ≥ 0.9× Express', ['patch'], 0.9),
    judged('Two processes ≥ 1.5× one', two, ({ median }) => median >= 1.5),
    judged('p99 at 32 connections not above Express', latencies, ({ median }) => median <= 1),
    {
      target: 'Start to serving, existing embedded database ≤ 2 s',
      measured: `${(start.median / 1000).toFixed(2)} s (${(start.low / 1000).toFixed(2)}–${(start.high / 1000).toFixed(2)})`,
      isMet: start.median <= 2_000,
    },
    {
      target: 'Resident memory under load ≤ 200 MB',
      measured: memory === undefined ? 'unknown' : `${Math.round(memory)} MB`,
      isMet: memory === undefined ? undefined : memory <= 200,
    },
  ];
}

const judged = (target, found, isMet) => ({
  target,
  measured: found.map(({ where, ratio }) => `${where}: ${times(ratio)}`).join('<br>'),
  isMet: found.length === 0 ? undefined : found.every(({ ratio }) => isMet(ratio)),
});
