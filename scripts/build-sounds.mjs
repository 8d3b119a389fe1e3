// Writes libs/speech/sounds/*.wav; run it with `npm run sounds` after a change of libs/speech/sounds/recipes.ts.
import { writeFileSync } from 'node:fs';
import { writeWav } from '../libs/audio/index.js';
import { loadFlite } from '../libs/speech/flite/flite-module.js';
import { makeSounds } from '../libs/speech/sounds/recipes.js';

for (const [name, pcm] of makeSounds(loadFlite())) {
  const file = new URL(`../libs/speech/sounds/${name}.wav`, import.meta.url);
  writeFileSync(file, writeWav({ channels: [pcm], rate: 8_000, encoding: 'mulaw' }));
  console.log(`${name}.wav  ${Math.round(pcm.length / 8)} ms`);
}
