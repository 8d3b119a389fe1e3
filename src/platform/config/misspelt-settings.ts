import { closest, distance } from 'fastest-levenshtein';
import { settingSpecs } from './settings.js';

export interface MisspeltSetting {
  readonly name: string;
  /** The setting that was probably meant. */
  readonly nearest: string;
}

const NAMES = Object.keys(settingSpecs(false));
/** Shorter names are near to common variables of other programs: HOME is two letters from HOST. */
const SHORT = 8;

/** Variables whose names are nearly those of settings, such as `AGENT_PROVDER_1_URL`; they have no effect. */
export function misspeltSettings(env: NodeJS.ProcessEnv): MisspeltSetting[] {
  return Object.keys(env).flatMap((name) => {
    if (NAMES.includes(name)) return [];
    const nearest = closest(name.toUpperCase(), NAMES);
    return distance(name.toUpperCase(), nearest) <= (name.length < SHORT ? 1 : 2) ? [{ name, nearest }] : [];
  });
}
