/** What a masked credential begins with. */
export const MASK = '••••';
/** A shorter credential is masked as a whole: its last characters would be too large a part of it. */
const MIN_LENGTH_WITH_ENDING = 12;
const ENDING_LENGTH = 4;

/** A credential as it is shown to callers who must not read it: enough to tell two of them apart. */
export function maskCredential(clear: string): string {
  const characters = [...clear];
  return characters.length < MIN_LENGTH_WITH_ENDING ? MASK : MASK + characters.slice(-ENDING_LENGTH).join('');
}

/** Whether a value sent as a credential is a mask that a client has read before. */
export const isMasked = (value: string): boolean => value.trimStart().startsWith(MASK);
