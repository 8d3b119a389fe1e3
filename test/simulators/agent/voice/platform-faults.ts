import { FAULT_NAMES } from '../faults.js';
import { ELEVENLABS_FAULT_NAMES } from '../../elevenlabs/elevenlabs-faults.js';
import { REALTIME_FAULT_NAMES, SHARED_FAULT_NAMES } from '../../openai-realtime/realtime-faults.js';
import { PIPECAT_FAULT_NAMES } from '../../pipecat/pipecat-faults.js';
import { VAPI_FAULT_NAMES } from '../../vapi/vapi-faults.js';
import { VOICE_FAULT_NAMES } from './voice-faults.js';
import { WORD_FAULT_NAMES } from './word-faults.js';

/** The protocols over which the agent answers calls beside chat completions. */
export const PLATFORMS = [
  'twilio-media-streams',
  'openai-realtime',
  'elevenlabs',
  'vapi',
  'retell',
  'pipecat',
] as const;
export type Platform = (typeof PLATFORMS)[number];

const SHARED = [...SHARED_FAULT_NAMES, ...WORD_FAULT_NAMES];

/** The faults that an agent can have over each protocol. */
export const FAULTS_OVER: Readonly<Record<Platform, readonly string[]>> = {
  'twilio-media-streams': [...VOICE_FAULT_NAMES, ...WORD_FAULT_NAMES],
  'openai-realtime': [...SHARED, ...REALTIME_FAULT_NAMES],
  elevenlabs: [...SHARED, ...ELEVENLABS_FAULT_NAMES],
  vapi: [...SHARED, ...VAPI_FAULT_NAMES],
  retell: [...new Set([...FAULT_NAMES, ...VOICE_FAULT_NAMES])],
  pipecat: [...SHARED, ...PIPECAT_FAULT_NAMES],
};

/** The reason of a 404: the name of the fault may be one of another protocol. */
export const noSuchFault = (platform: Platform): string =>
  `Unknown address or fault; faults over ${platform}: ${FAULTS_OVER[platform].join(', ')}`;
