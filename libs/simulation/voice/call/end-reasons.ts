import type { LevelRange } from '../../../audio/index.js';
import { capital } from '../../../text/index.js';
import { END_CODES, type EndCode } from '../../timeline/end-codes.js';

/** Why a call ended, as a sentence. */
export const reasonOf = (code: EndCode): string => capital(END_CODES[code]);

export const neverSilent = ({ low, high }: LevelRange): string =>
  `for 30 s it stayed between ${Math.round(low)} and ${Math.round(high)} dBFS; ` +
  'lower its background audio to 20 dB below its voice, or turn it off';
