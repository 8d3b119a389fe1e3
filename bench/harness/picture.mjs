// The results as a picture: bars in relation to Express, drawn by hand as SVG, readable on light and on dark.
import { ratios } from './statistics.mjs';
import { SUBJECTS } from './subjects.mjs';

const LEFT = 270;
const RIGHT = 70;
const WIDTH = 900;
const TOP = 64;
const BAR = 11;
const GAP = 14;
const SHOWN = SUBJECTS.filter(({ name }) => name !== 'express');
const PREFERRED = 32;

/** @param cells what `matrix` returns */
export function picture(cells) {
  const works = [...new Set(cells.map(({ work }) => work))].map((work) => {
    const asked = cells.filter((cell) => cell.work === work && SUBJECTS.every(({ name }) => cell.results[name]));
    return asked.find(({ connections }) => connections === PREFERRED) ?? asked[0];
  });
  const rows = works.map(({ title, connections, results }) => ({
    label: connections === PREFERRED ? title : `${title} (${connections} conn.)`,
    bars: SHOWN.map(({ name }) => ({ name, ...ratios(results[name].rate, results.express.rate) })),
  }));
  const most = Math.max(1.25, ...rows.flatMap(({ bars }) => bars.map(({ high }) => high)));
  const x = (ratio) => LEFT + (ratio / most) * (WIDTH - LEFT - RIGHT);
  const rowHeight = SHOWN.length * BAR + GAP;
  const height = TOP + rows.length * rowHeight + 24;
  const bottom = height - 20;
  const ticks = Array.from({ length: Math.floor(most / 0.5) + 1 }, (_, i) => i * 0.5);
  const lines = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img">`,
    '<title>Requests per second in relation to a hand-written Express server</title>',
    STYLE,
    `<text x="16" y="22" class="title">Requests per second in relation to Express 5 + pg, ${PREFERRED} connections</text>`,
    ...SHOWN.map(
      ({ name, title }, i) =>
        `<rect x="${16 + i * 170}" y="34" width="11" height="11" class="${name}"/><text x="${32 + i * 170}" y="44">${title}</text>`,
    ),
    ...ticks.map(
      (tick) =>
        `<line x1="${x(tick).toFixed(1)}" x2="${x(tick).toFixed(1)}" y1="${TOP - 6}" y2="${bottom}" class="${tick === 1 ? 'measure' : 'grid'}"/>` +
        `<text x="${x(tick).toFixed(1)}" y="${bottom + 14}" text-anchor="middle" class="small">${tick.toFixed(1)}×</text>`,
    ),
    ...rows.flatMap(({ label, bars }, row) => {
      const y = TOP + row * rowHeight;
      const text = `<text x="${LEFT - 10}" y="${y + (SHOWN.length * BAR) / 2 + 4}" text-anchor="end">${label}</text>`;
      return [text, ...bars.map((bar, i) => drawBar(bar, y + i * BAR, x))];
    }),
    '</svg>',
  ];
  return `${lines.join('\n')}\n`;
}

/** A bar to the median, a line from the lowest to the highest round, and the figure. */
function drawBar({ name, median, low, high }, y, x) {
  const middle = y + (BAR - 2) / 2;
  return (
    `<rect x="${LEFT}" y="${y}" width="${(x(median) - LEFT).toFixed(1)}" height="${BAR - 2}" class="${name}"/>` +
    `<line x1="${x(low).toFixed(1)}" x2="${x(high).toFixed(1)}" y1="${middle}" y2="${middle}" class="spread"/>` +
    `<text x="${(x(Math.max(median, high)) + 4).toFixed(1)}" y="${y + 9}" class="small">${median.toFixed(2)}</text>`
  );
}

const STYLE = `<style>
text { font: 13px system-ui, sans-serif; fill: #24292f; }
.title { font-weight: 600; font-size: 15px; }
.small { font-size: 10px; }
.service { fill: #2f81f7; }
.fastify { fill: #9a9fa6; }
.node { fill: #c9a227; }
.grid { stroke: #8b949e; stroke-opacity: 0.35; }
.measure { stroke: #cf222e; stroke-width: 1.5; }
.spread { stroke: #57606a; stroke-width: 1; }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3; }
  .measure { stroke: #ff7b72; }
  .spread { stroke: #e6edf3; stroke-opacity: 0.7; }
}
</style>`;
