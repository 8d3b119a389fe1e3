import { nearestName } from '../../../libs/json-input/index.js';
import { settingSpecs, type Settings } from './settings.js';

const NAMES = Object.keys(settingSpecs(false));
/** Shorter names are near to common variables of other programs: HOME is two letters from HOST. */
const LONG = 8;
/** Variables of `vat`, such as `VAT_API_KEY`, which is near to `STT_API_KEY`. */
const OF_COMMAND_LINE = 'VAT_';

/** One sentence for each variable that looks like a setting but has no effect, such as `AGENT_PROVDER_1_URL`. */
export function settingWarnings(env: NodeJS.ProcessEnv): string[] {
  return Object.keys(env).flatMap((name) => {
    if (NAMES.includes(name) || name.startsWith(OF_COMMAND_LINE)) return [];
    const nearest = nearestName(name.toUpperCase(), NAMES, LONG);
    return nearest ? [`${name} is not a setting and has no effect; did you mean ${nearest}?`] : [];
  });
}

/** What the start says where the address is the default: the service used to be reachable from other machines. */
export function hostNote(env: NodeJS.ProcessEnv, { host, role, metricsPort }: Settings): string | undefined {
  const isListening = role !== 'worker' || metricsPort !== undefined;
  if (env['HOST']?.trim() || !isListening) return undefined;
  return `HOST is not set: only this machine can reach the service, at ${host}. HOST=0.0.0.0 opens it to the network`;
}
