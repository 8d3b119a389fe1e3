/** Style of voice calls. */
export const VOICE_CSS = `
.player { border-radius: 4px; }
.player:focus-visible { outline: 2px solid var(--link); outline-offset: 3px; }
.player audio { display: block; width: 100%; height: 2.2rem; margin: 0.3rem 0; }
.heard .lane { fill: var(--sunk); }
.heard .spoken { opacity: 0.14; }
.heard .caller { fill: var(--caller); } .heard .agent { fill: var(--agent); }
.heard .overlap { fill: var(--fail); opacity: 0.28; }
.heard line.latency { stroke: var(--ink); stroke-dasharray: 2 3; stroke-width: 1.5; }
.heard line.slow { stroke: var(--fail); }
.heard div.latency { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; text-align: center; font-size: 11px; line-height: 16px; color: var(--ink); text-shadow: 0 0 3px var(--sunk), 0 0 3px var(--sunk); }
.heard div.at-start { text-align: left; } .heard div.at-end { text-align: right; }
.heard div.slow { color: var(--fail); font-weight: 600; }
.heard .mark-line { stroke: var(--muted); stroke-dasharray: 1 4; }
.heard .mark-line.bad { stroke: var(--fail); } .heard .mark-line.warn { stroke: var(--flaky); }
.heard .mark { fill: var(--muted); } .heard .mark.bad { fill: var(--fail); } .heard .mark.warn { fill: var(--flaky); }

.heard .caption { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; padding-left: 4px; font-size: 11px; line-height: 16px; color: var(--muted); }
.heard .line-start { stroke: var(--muted); }
.heard .playhead { stroke: transparent; stroke-width: 2; }
.player:has(audio) .heard { cursor: pointer; }
.player:has(audio) .playhead { stroke: var(--link); }
.call:has(audio) .transcript time { cursor: pointer; text-decoration: underline dotted; }
.voice .legend .sign::before { display: none; }
.voice .facts { margin-bottom: 0.4rem; }
@media print { .player audio, .player small { display: none; } }
`;
