import type { VoiceFacts } from '../facts/facts.js';
import { spokenDifferences } from '../../values/spoken-form.js';
import { type SoundWords, textOf, wordsOfSounds } from './utterances.js';

/**
 * Per turn number, the platform's text (played part only) where the transcription differs or is empty.
 */
export function generatedOtherwise(facts: VoiceFacts): ReadonlyMap<number, string> {
  const { recognised, ...byWire } = facts;
  if (!recognised || facts.said.length === 0) return new Map();
  const [heard, generated] = [byTurn(wordsOfSounds(facts)), byTurn(wordsOfSounds(byWire))];
  return new Map(
    [...generated].filter(([turn, text]) => text !== '' && spokenDifferences(text, heard.get(turn) ?? '').length > 0),
  );
}

function byTurn(sounds: readonly SoundWords[]): Map<number, string> {
  const texts = new Map<number, string>();
  for (const { sound, runs } of sounds) {
    const parts = [texts.get(sound.turn) ?? '', ...runs.map(({ words }) => textOf(words))];
    texts.set(sound.turn, parts.filter((part) => part !== '').join(' '));
  }
  return texts;
}
