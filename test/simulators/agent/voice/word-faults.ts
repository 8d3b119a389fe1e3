import { FAULT_NAMES, type FaultName } from '../faults.js';
import type { VoiceAgentOptions } from './voice-agent.js';
import { isVoiceFault, type VoiceFaultName } from './voice-faults.js';

/** Faults over text that are about HTTP, or that the telephone has under the same name. */
const NOT_IN_WORDS = ['slow-answer', 'error-status', 'cut-stream'] as const satisfies readonly FaultName[];
export type WordFaultName = Exclude<FaultName, (typeof NOT_IN_WORDS)[number]>;

export const isWordFault = (name: string): name is WordFaultName =>
  (FAULT_NAMES as readonly string[]).includes(name) && !(NOT_IN_WORDS as readonly string[]).includes(name);

/** Faults in what the agent says and does, which it can have over text and on voice calls. */
export const WORD_FAULT_NAMES: readonly WordFaultName[] = FAULT_NAMES.filter(isWordFault);

/** A fault that the agent can have on the telephone. */
export type TelephoneFaultName = VoiceFaultName | WordFaultName;

export const isTelephoneFault = (name: string): name is TelephoneFaultName => isVoiceFault(name) || isWordFault(name);

/** What a fault plants: in how the agent speaks and hears, or in what it says and does. */
export const plantedBy = (fault: TelephoneFaultName | undefined): Pick<VoiceAgentOptions, 'fault' | 'wordFault'> =>
  fault === undefined ? {} : isWordFault(fault) ? { wordFault: fault } : { fault };
