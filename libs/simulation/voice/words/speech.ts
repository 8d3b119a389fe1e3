import type { SpeechEntry } from '../../timeline/timeline.js';
import type { SoundWords } from './utterances.js';

type Speech = Pick<SpeechEntry, 'text' | 'words' | 'continues' | 'uncertain' | 'interrupted'>;

/** What the agent was heard to say in one of its sounds, for the timeline. @param before its sound before */
export function speechOf({ sound, runs, words }: SoundWords, before: SoundWords | undefined): Speech {
  const [first] = runs;
  const isOneSentence = before?.sound.turn === sound.turn && before.runs.at(-1)?.item === first?.item;
  const continues = first?.continues === true && isOneSentence;
  let text = '';
  const uncertain: [number, number][] = [];
  for (const run of runs) {
    const opening = run === first ? (continues ? separatorOf(first.words[0]!.before) : '') : ' ';
    text += opening;
    for (const [index, word] of run.words.entries()) {
      text += index === 0 ? '' : word.before;
      if (word.hearing === 'uncertain') uncertain.push([text.length, text.length + word.text.length]);
      text += word.text;
    }
  }
  return {
    text,
    words,
    ...(continues && { continues }),
    ...(uncertain.length > 0 && { uncertain }),
    ...(runs.some(({ isInterrupted }) => isInterrupted) && { interrupted: true }),
  };
}

/** A line break has a meaning for what is read out, such as a list. */
const separatorOf = (before: string): string => (before.includes('\n') ? before : ' ');
