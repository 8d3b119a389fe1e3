/** Colours: the contrast of all text is at least 4.5:1, which the browser test verifies. */
const COLOURS = {
  light: `--page: #f6f7f9; --card: #fff; --sunk: #f1f3f6; --ink: #1a212c; --muted: #545e6e; --line: #dbe0e7; --link: #1a56b8;
  --pass: #11683a; --pass-bg: #e3f4e9; --fail: #ab1f1c; --fail-bg: #fdebea; --flaky: #774a00; --flaky-bg: #fdf0d3;
  --invalid: #5a3ea8; --invalid-bg: #efebfc; --error: #8b3d00; --error-bg: #fdeddf; --idle-bg: #e8ebf0;
  --agent: #2f6fd0; --agent-bg: #eaf1fc; --caller: #717d8f; --mark-bad: #ffd9d6; --mark-good: #d3efdc;`,
  dark: `--page: #0f1216; --card: #171b21; --sunk: #1e242c; --ink: #e5e9ef; --muted: #a3adbb; --line: #2d3540; --link: #8bb8ff;
  --pass: #7fd8a2; --pass-bg: #12301f; --fail: #ff9f98; --fail-bg: #3b1b1b; --flaky: #f3c772; --flaky-bg: #372b11;
  --invalid: #c6b5ff; --invalid-bg: #2a2448; --error: #ffb680; --error-bg: #3a2513; --idle-bg: #2a313b;
  --agent: #6ea4f5; --agent-bg: #18273d; --caller: #8d98a8; --mark-bad: #6b2523; --mark-good: #1c4a2e;`,
};

const PAGE = `
:root { color-scheme: light dark; ${COLOURS.light} }
@media (prefers-color-scheme: dark) { :root { ${COLOURS.dark} } }
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; scroll-padding-top: 1rem; }
body { margin: 0 auto; padding: 1.5rem 1.25rem 4rem; max-width: 68rem; background: var(--page); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; overflow-wrap: anywhere; }
h1, h2, h3, h4, h5, p, ul, ol, dl, dd { margin: 0; padding: 0; }
h1 { font-size: 1.6rem; line-height: 1.25; letter-spacing: -0.01em; }
h2 { font-size: 1.1rem; margin: 2.25rem 0 0.75rem; }
h3 { font-size: 1rem; }
h4 { font-size: 0.95rem; font-weight: 600; }
h5 { font-size: 0.8rem; font-weight: 600; color: var(--muted); margin: 1.1rem 0 0.4rem; }
ul, ol { list-style: none; }
a { color: var(--link); text-underline-offset: 2px; text-decoration-thickness: 1px; }
a:focus-visible, summary:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; border-radius: 3px; }
code { font: 0.88em/1.45 ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; }
small { font-size: 0.85rem; color: var(--muted); }
svg { display: block; overflow: visible; }
.note, .none { color: var(--muted); font-size: 0.85rem; }
.badge { display: inline-block; padding: 0.05rem 0.55rem; border-radius: 1rem; font-size: 0.82rem; font-weight: 600;
  white-space: nowrap; color: var(--muted); background: var(--idle-bg); }
.badge.passed { color: var(--pass); background: var(--pass-bg); }
.badge.failed { color: var(--fail); background: var(--fail-bg); }
.badge.invalid { color: var(--invalid); background: var(--invalid-bg); }
.badge.error { color: var(--error); background: var(--error-bg); }
.badge.flaky { color: var(--flaky); background: var(--flaky-bg); box-shadow: inset 0 0 0 1px var(--flaky); }
.tag { display: inline-block; padding: 0 0.4rem; border-radius: 3px; background: var(--sunk); color: var(--muted); font-size: 0.78rem; }
.tag.critical { color: var(--ink); box-shadow: inset 0 0 0 1px var(--line); font-weight: 600; }
.facts { display: flex; flex-wrap: wrap; gap: 0.5rem 2rem; }
.facts dt { font-size: 0.78rem; color: var(--muted); }
.facts dd { font-variant-numeric: tabular-nums; font-weight: 500; }
.nowrap { white-space: nowrap; }
.tick { fill: var(--muted); font-size: 11px; font-variant-numeric: tabular-nums; }
.axis { stroke: var(--line); }
`;

const OVERVIEW = `
.banner { background: var(--card); border: 1px solid var(--line); border-top: 4px solid var(--caller); border-radius: 8px; padding: 1.1rem 1.4rem 1.3rem; }
.banner.passed { border-top-color: var(--pass); }
.banner.failed { border-top-color: var(--fail); }
.banner .kind { color: var(--muted); font-size: 0.82rem; }
.banner .agent { color: var(--muted); font-size: 0.9rem; margin-top: 0.15rem; }
.verdict { display: grid; grid-template-columns: auto auto 1fr; gap: 0.25rem 1.5rem; align-items: start; margin-top: 1.1rem; }
.verdict .badge { font-size: 1.15rem; padding: 0.3rem 1rem; }
.verdict .score { font-size: 2rem; line-height: 1.25; font-weight: 650; font-variant-numeric: tabular-nums; letter-spacing: -0.02em; }
.verdict .score small { font-size: 0.9rem; font-weight: 400; letter-spacing: 0; }
.verdict .gate { padding-top: 0.3rem; font-size: 0.9rem; color: var(--muted); }
.scale { margin-bottom: 0.35rem; }
.scale .track { fill: var(--idle-bg); }
.scale .fill { fill: var(--caller); }
.scale .fill.enough { fill: var(--pass); }
.scale .fill.too-low { fill: var(--fail); }
.scale .minimum { stroke: var(--ink); stroke-width: 2; }
.reasons { color: var(--ink); font-weight: 500; margin-top: 0.15rem; }
.failures ol { display: grid; gap: 0.5rem; }
.failures li { background: var(--card); border: 1px solid var(--line); border-left: 4px solid var(--caller); border-radius: 6px; padding: 0.6rem 0.9rem; }
.failures li.failed { border-left-color: var(--fail); }
.failures li.error { border-left-color: var(--error); }
.failures li.invalid { border-left-color: var(--invalid); }
.failures .what { display: flex; flex-wrap: wrap; gap: 0.2rem 0.6rem; align-items: baseline; font-weight: 600; }
.failures .which { font-weight: 400; }
.failures .why { margin-top: 0.2rem; }
.stack { border-radius: 5px; overflow: hidden; background: var(--idle-bg); }
.fill-passed { fill: var(--pass); } .fill-failed { fill: var(--fail); } .fill-invalid { fill: var(--invalid); }
.fill-error { fill: var(--error); } .fill-cancelled, .fill-provisional { fill: var(--caller); } .fill-pending { fill: var(--idle-bg); }
.counts { display: flex; flex-wrap: wrap; gap: 0.4rem 1rem; margin: 0.7rem 0 1rem; }
.counts small { margin-left: 0.3rem; }
table { width: 100%; border-collapse: collapse; background: var(--card); border: 1px solid var(--line); border-radius: 8px; font-size: 0.9rem; }
th, td { text-align: left; vertical-align: top; padding: 0.5rem 0.5rem; border-bottom: 1px solid var(--line); }
tbody tr:last-child > * { border-bottom: 0; }
th:first-child, td:first-child { padding-left: 0.9rem; }
thead th { overflow-wrap: normal; font-size: 0.78rem; font-weight: 500; color: var(--muted); vertical-align: bottom; }
tbody th { font-weight: 600; width: 26%; }
tbody th small { display: block; font-weight: 400; }
td.number { font-variant-numeric: tabular-nums; white-space: nowrap; }
td.rate { min-width: 9rem; }
td.sparks { min-width: 7rem; }
.interval { margin: 0.3rem 0 0.15rem; max-width: 10rem; }
.interval .range { fill: var(--agent); opacity: 0.35; }
.interval .dot { fill: var(--agent); }
.bar { fill: var(--agent); }
.matrix { table-layout: fixed; font-size: 0.85rem; }
.matrix th:first-child { width: 20%; }
.matrix thead b { display: block; color: var(--ink); font-weight: 600; overflow-wrap: anywhere; }
.matrix thead small { display: block; font-size: 0.75rem; overflow-wrap: anywhere; }
.matrix td { font-variant-numeric: tabular-nums; }
.matrix td > small { display: block; font-size: 0.78rem; }
.matrix .no-pass { color: var(--fail); }
.matrix .badge { padding: 0 0.4rem; font-size: 0.75rem; }
.matrix .whole th, .matrix .whole td { background: var(--sunk); }
.marker { stroke: var(--ink); stroke-dasharray: 3 3; }
.rate > .nowrap { display: inline-block; margin-right: 0.6rem; }
.histogram, .note + .facts, .facts + table, .facts + .note, .note + table, table + .note { margin-top: 0.9rem; }
`;

const CALLS = `
.evaluation { margin-top: 1.5rem; }
.evaluation > header { display: flex; flex-wrap: wrap; gap: 0.2rem 0.8rem; align-items: center; margin-bottom: 0.5rem; font-size: 0.9rem; }
.evaluation > header .interval { display: inline-block; width: 7rem; margin: 0; }
.call { background: var(--card); border: 1px solid var(--line); border-radius: 6px; margin-bottom: 0.4rem; }
.call > summary { display: flex; flex-wrap: wrap; align-items: center; gap: 0.15rem 0.75rem; padding: 0.5rem 0.9rem; cursor: pointer; list-style: none; }
.call > summary::-webkit-details-marker { display: none; }
.call > summary::after { content: "▸"; color: var(--muted); margin-left: auto; }
.call[open] > summary::after { content: "▾"; }
.call.failed[open] { border-color: var(--fail); }
.glance { display: flex; flex-wrap: wrap; gap: 0 0.9rem; color: var(--muted); font-size: 0.85rem; font-variant-numeric: tabular-nums; }
.body { padding: 0.1rem 0.9rem 0.9rem; border-top: 1px solid var(--line); scroll-margin-top: 3.5rem; }
.body > .note { margin-top: 0.9rem; }
.reason { margin-top: 0.7rem; font-weight: 500; }
.findings li { border-left: 3px solid var(--line); padding: 0.1rem 0 0.1rem 0.75rem; margin-bottom: 0.6rem; }
.findings li.not-met { border-left-color: var(--fail); }
.findings li.is-met { border-left-color: var(--pass); }
.findings li:target { background: var(--sunk); }
.findings .name { font-weight: 600; }
.findings .name small { font-weight: 400; white-space: nowrap; }
.findings .state { font-size: 0.85rem; }
.not-met .state { color: var(--fail); } .is-met .state { color: var(--pass); }
.findings .evidence { font-size: 0.9rem; color: var(--muted); }
.findings .detail a { font-size: 0.85rem; white-space: nowrap; margin-left: 0.3rem; }
.findings q { color: var(--ink); font-style: italic; }
.met > summary, .samples > summary { cursor: pointer; color: var(--muted); font-size: 0.85rem; margin-bottom: 0.4rem; }
.samples { font-size: 0.85rem; }
.samples ol { list-style: decimal; padding-left: 1.6rem; }
.parts li { border: 0; padding: 0; }
.samples li { border: 0; padding: 0; margin-bottom: 0.2rem; }
.lanes { margin: 0.2rem 0; }
.lanes .lane { fill: var(--sunk); }
.lanes .sound { fill: var(--caller); opacity: 0.45; } .lanes .caller { fill: var(--caller); } .lanes .agent { fill: var(--agent); } .lanes .silence { fill: var(--flaky); opacity: 0.45; }
.lanes .tool { fill: var(--invalid); } .lanes .error { fill: var(--fail); }
.lanes .wait { stroke: var(--caller); stroke-dasharray: 2 3; stroke-width: 1.5; }
.legend { display: flex; flex-wrap: wrap; gap: 0 1rem; font-size: 0.78rem; color: var(--muted); margin-bottom: 0.7rem; }
.legend span::before { content: ""; display: inline-block; width: 0.6rem; height: 0.6rem; border-radius: 2px; margin-right: 0.35rem; background: var(--caller); }
.legend .agent::before { background: var(--agent); } .legend .tool::before { background: var(--invalid); border-radius: 50%; }
.legend .silence::before { background: var(--flaky); opacity: 0.45; } .legend .error::before { background: var(--fail); }
.legend .waiting::before { height: 0; border-top: 2px dotted var(--caller); background: none; vertical-align: middle; }
.transcript li { display: grid; grid-template-columns: 3.6rem minmax(0, 1fr); gap: 0 0.5rem; padding: 0.15rem 0; }
.transcript time { color: var(--muted); font-size: 0.8rem; line-height: 1.9rem; text-align: right; font-variant-numeric: tabular-nums; }
.said { justify-self: start; max-width: 82%; padding: 0.25rem 0.7rem 0.35rem; border-radius: 8px; background: var(--sunk); }
.agent > .said { justify-self: end; background: var(--agent-bg); }
.tool > .said { background: none; border: 1px solid var(--line); }
.given > .said, .silence > .said, .sound > .said, .finding > .said, .end > .said, .error > .said { max-width: none; justify-self: stretch; border-radius: 4px; background: none; border-left: 3px solid var(--line); font-size: 0.9rem; color: var(--muted); }
.silence > .said { border-left-color: var(--flaky); color: var(--flaky); }
.error > .said { border-left-color: var(--fail); color: var(--fail); }
.who { display: flex; flex-wrap: wrap; gap: 0 0.7rem; font-size: 0.78rem; color: var(--muted); }
.who .slowest { color: var(--ink); font-weight: 600; }
.expected { font-size: 0.85rem; }
.cut { color: var(--error); font-size: 0.85rem; }
.words { white-space: pre-wrap; unicode-bidi: isolate; }
.transcript li:target > .said { outline: 2px solid var(--link); }
mark { color: var(--ink); background: var(--mark-good); border-radius: 2px; padding: 0 0.1em; }
mark.not-met { background: var(--mark-bad); }
.ref { font-size: 0.72rem; font-weight: 600; vertical-align: super; line-height: 1; padding: 0 0.2rem; margin-left: 0.1rem; text-decoration: none; }
.ref.not-met { color: var(--fail); } .ref.is-met { color: var(--pass); }
.retried { color: var(--flaky); font-weight: 500; }
.attempt { border-left: 3px solid var(--line); padding: 0.1rem 0 0.1rem 0.75rem; margin-bottom: 0.5rem; }
.attempt > summary { cursor: pointer; font-size: 0.9rem; }
`;

const NARROW = `
@media (max-width: 50rem) {
  body { padding: 0.75rem 0.75rem 3rem; }
  .banner { padding: 0.9rem 1rem 1rem; }
  .verdict { grid-template-columns: auto 1fr; }
  .verdict .gate { grid-column: 1 / -1; }
  table, tbody, tr, tbody th, td { display: block; width: auto; border: 0; }
  table { background: none; }
  thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  tbody tr { display: grid; grid-template-columns: repeat(3, minmax(0, 1fr)); gap: 0.5rem 0.75rem; background: var(--card);
    border: 1px solid var(--line); border-radius: 6px; padding: 0.7rem 0.9rem; margin-bottom: 0.5rem; }
  tbody th, td, th:first-child { padding: 0; min-width: 0; }
  tbody th, td.rate, td.sparks, td.explained { grid-column: 1 / -1; }
  .matrix th:first-child { width: auto; }
  td::before { content: attr(data-label); display: block; font-size: 0.75rem; color: var(--muted); }
  .interval { max-width: none; }
  .transcript li { grid-template-columns: minmax(0, 1fr); }
  .transcript time { text-align: left; line-height: 1.3; }
  .agent > time { text-align: right; }
  .said { max-width: 94%; }
  .findings .name small { white-space: normal; }
  .call > summary { position: relative; padding-right: 2rem; }
  .call > summary::after { position: absolute; right: 0.9rem; top: 0.5rem; }
}
`;

const PRINT = `
@media print {
  :root { ${COLOURS.light} --page: #fff; }
  html { font-size: 11.5px; }
  body { max-width: none; padding: 0; font-size: 11px; }
  .banner, .failures li, .findings li, .transcript li, tr { break-inside: avoid; }
  h2, h3, h4, h5, .call > summary { break-after: avoid; }
  .badge, mark, rect, .said { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
`;

/** The style sheet of a report. */
export const CSS = [PAGE, OVERVIEW, CALLS, NARROW, PRINT].join('');
