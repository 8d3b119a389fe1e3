import { type DefinitionInput, normalise } from '../../../../../evaluation-definition/index.js';
import { executeCall } from '../../../../index.js';
import { virtualCalls } from '../../../../voice/call/virtual-call.js';
import { collected, SOUNDS } from '../../../../voice/testing/virtual-calls.js';
import { lineRateOf } from '../../../modules/common-options.js';
import { type ElevenLabsOptions, initiation } from '../options.js';
import elevenlabsEntry from '../wire.js';
import {
  type ElevenLabsScript,
  ScriptedElevenLabs,
} from '../../../../../../test/simulators/elevenlabs/double/agent.js';

export const WAITS = { script: [{ waitSeconds: 6 }, { end: 'Done' }] } as const satisfies DefinitionInput;
/** The caller barges in 1,000 ms after the agent's onset, and speaks for 900 ms. */
export const BARGES_IN = {
  script: [{ say: 'Sorry, one moment.', bargeIn: { afterMs: 1_000 } }, { waitSeconds: 3 }, { end: 'Done' }],
} as const satisfies DefinitionInput;

/** A call on virtual time to an agent that does what its script says. */
export async function execute(
  script: ElevenLabsScript,
  definition: DefinitionInput = WAITS,
  options: ElevenLabsOptions = {},
) {
  const recording = collected();
  let agent: ScriptedElevenLabs | undefined;
  const state = {
    initiation: initiation({ callId: 'c-1' }, options),
    sendsActivity: options.userActivity ?? true,
    ...{ signature: [], secrets: [] },
  };
  const result = await executeCall({
    definition: normalise(definition),
    scenario: { scenarioText: 'You want a table.' },
    personality: { name: 'Caller' },
    transport: virtualCalls({
      wire: elevenlabsEntry(state),
      lineRate: lineRateOf({ ...options }),
      agent: (socket) => (agent = new ScriptedElevenLabs(socket, script)),
    }),
    voice: { sounds: SOUNDS, voice: 'any', recording: recording.sink },
  });
  return { ...result, agent: agent!, wire: recording.wire, heard: heardOf(recording.bytes()) };
}

/** What was heard of the agent, from a recording with 16 bits. */
function heardOf(recording: Uint8Array): Int16Array {
  const bytes = Buffer.from(recording);
  return Int16Array.from({ length: bytes.length >> 2 }, (_, n) => bytes.readInt16LE(4 * n + 2));
}

export type Executed = Awaited<ReturnType<typeof execute>>;

export const spoken = ({ timeline }: Executed) =>
  timeline.flatMap((entry) => (entry.type === 'speech' && entry.speaker === 'agent' ? [entry] : []));

export const codesOf = ({ voice }: Executed) => voice!.wireFindings.map(({ code }) => code);
