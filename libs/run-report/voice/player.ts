import { createHash } from 'node:crypto';
import { html, Html } from '../html.js';

/**
 * Plays a recording from where the figure was clicked, and moves the line of the figure along. Without it the page shows the
 * same, and the browser's own controls play the audio.
 */
const SCRIPT = `
for (const player of document.querySelectorAll('.player')) {
  const audio = player.querySelector('audio');
  const figure = player.querySelector('.heard');
  const line = player.querySelector('.playhead');
  const seconds = Number(player.dataset.seconds);
  if (!audio) continue;
  const show = () => {
    const at = Math.min(100, (audio.currentTime / seconds) * 100) + '%';
    line.setAttribute('x1', at);
    line.setAttribute('x2', at);
  };
  const play = (from) => {
    audio.currentTime = Math.max(0, Math.min(from, seconds));
    show();
    audio.play().catch(() => undefined);
  };
  audio.addEventListener('timeupdate', show);
  audio.addEventListener('seeking', show);
  figure.addEventListener('click', (event) => {
    const box = figure.getBoundingClientRect();
    play(((event.clientX - box.left) / box.width) * seconds);
  });
  player.addEventListener('keydown', (event) => {
    if (event.target !== player) return;
    const step = { ArrowLeft: -2, ArrowRight: 2 }[event.key];
    if (step) play(audio.currentTime + step);
    else if (event.key === ' ' || event.key === 'Enter') audio.paused ? audio.play() : audio.pause();
    else return;
    event.preventDefault();
  });
  const call = player.closest('.call');
  for (const time of call.querySelectorAll('.transcript time[data-ms]')) {
    const playThere = () => play(Number(time.dataset.ms) / 1000);
    time.tabIndex = 0;
    time.role = 'button';
    time.ariaLabel = 'Play from ' + time.textContent;
    time.addEventListener('click', playThere);
    time.addEventListener('keydown', (event) => {
      if (event.key !== ' ' && event.key !== 'Enter') return;
      playThere();
      event.preventDefault();
    });
  }
}
`;

/** At the end of a page with audio. Its text must match the hash in the policy exactly. */
export const PLAYER_SCRIPT = Html.trusted(`<script>${SCRIPT}</script>`);

const hash = createHash('sha256').update(SCRIPT).digest('base64');

/** What the player needs of a Content-Security-Policy. */
export const PLAYER_CSP = `script-src 'sha256-${hash}'; media-src data:`;

/** The browser's controls for a recording inside the page. */
export const audioElement = (wav: Uint8Array): Html =>
  html`<audio controls preload="metadata" src="data:audio/wav;base64,${Buffer.from(wav).toString('base64')}"></audio>`;
