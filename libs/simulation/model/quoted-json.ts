/**
 * Characters that a language model could take for structure: angle brackets of chat templates (`<|im_end|>`), `[INST]`,
 * line separators, and invisible characters, in which text can be hidden from people.
 */
const SUSPECT = /[<\u007f-\u009f\p{Cf}\p{Zl}\p{Zp}]|\[(?=\/?INST\])/gu;

/**
 * JSON on one line for a prompt, in which words of strangers cannot imitate anything around them.
 * Parses to the same value as `JSON.stringify`.
 */
export const quotedJson = (value: unknown): string =>
  JSON.stringify(value).replace(SUSPECT, (character) =>
    Array.from({ length: character.length }, (_, unit) => escaped(character.charCodeAt(unit))).join(''),
  );

const escaped = (unit: number): string => `\\u${unit.toString(16).padStart(4, '0')}`;
