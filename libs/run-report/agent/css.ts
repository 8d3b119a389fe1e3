/** What the page of an agent needs beside the style sheet of a report. */
export const AGENT_CSS = `
.looks { margin-top: 0.4rem; padding-left: 3.4rem; }
.looks .other { fill: var(--page); stroke: var(--muted); stroke-width: 1.5; }
.looks .marker.alarm { stroke: var(--fail); }
.looks .range { stroke: var(--agent); opacity: 0.45; stroke-width: 3; }
.looks .p50 { fill: var(--agent); } .looks .p95 { fill: var(--caller); }
.marks { margin-top: 0.6rem; font-size: 0.85rem; color: var(--muted); }
.marks li { padding-left: 1.3rem; text-indent: -1.3rem; }
.marks b { display: inline-block; width: 1.3rem; text-indent: 0; color: var(--ink); }
.marks b.alarm { color: var(--fail); }
.banner > .facts, .periods { margin-top: 0.9rem; font-size: 0.9rem; }
.periods a { margin-right: 0.9rem; }
.periods [aria-current] { color: var(--ink); font-weight: 600; text-decoration: none; }
.states { display: flex; flex-wrap: wrap; gap: 0.2rem 1rem; margin: 0.5rem 0; font-size: 0.85rem; color: var(--muted); }
.cases > li { background: var(--card); border: 1px solid var(--line); border-radius: 6px; padding: 0.6rem 0.9rem; margin-bottom: 0.5rem; }
.cases ol { display: grid; grid-template-columns: repeat(30, minmax(0, 1fr)); gap: 2px; margin-top: 0.3rem; }
.cell { display: inline-block; min-width: 26px; height: 26px; line-height: 26px; border-radius: 4px; text-align: center; font-weight: 600; }
.cell a { display: block; color: inherit; text-decoration: none; }
.cell.absent { background: var(--sunk); }
.cell.passed { color: var(--pass); background: var(--pass-bg); }
.cell.failed { color: var(--fail); background: var(--fail-bg); box-shadow: inset 0 0 0 1px var(--fail); }
.cell.flaky { color: var(--flaky); background: var(--flaky-bg); box-shadow: inset 0 0 0 1px var(--flaky); }
.cell.error { color: var(--error); background: var(--error-bg); }
.cell.passed a:hover, .cell.failed a:hover, .cell.flaky a:hover { text-decoration: underline; }
@media (max-width: 62rem) {
  .cases ol { grid-template-columns: repeat(10, minmax(0, 1fr)); }
}
@media (max-width: 50rem) {
  .looks circle { r: 2.3px; }
  .looks .range { stroke-width: 2; }
}
@media print { .cell, circle { print-color-adjust: exact; -webkit-print-color-adjust: exact; } }
`;
