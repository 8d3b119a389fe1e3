import { type DefinitionInput, normalise } from '../../../../../evaluation-definition/index.js';
import { executeCall } from '../../../../index.js';
import { virtualCalls } from '../../../../voice/call/virtual-call.js';
import { collected, SOUNDS } from '../../../../voice/testing/virtual-calls.js';
import { lineRateOf } from '../../../modules/common-options.js';
import { formatOf, type VapiOptions } from '../options.js';
import vapiEntry from '../wire.js';
import { ScriptedVapi, type VapiScript } from '../../../../../../test/simulators/vapi/scripted.js';

export const WAITS = { script: [{ waitSeconds: 6 }, { end: 'Done' }] } as const satisfies DefinitionInput;
/** The caller barges in 1,000 ms after the agent's onset, and speaks for 900 ms. */
export const BARGES_IN = {
  script: [{ say: 'Sorry, one moment.', bargeIn: { afterMs: 1_000 } }, { waitSeconds: 3 }, { end: 'Done' }],
} as const satisfies DefinitionInput;

/** A call on virtual time to an agent that does what its script says. */
export async function execute(
  script: VapiScript,
  definition: DefinitionInput = WAITS,
  options: VapiOptions = {},
  addresses: readonly string[] = [],
) {
  const recording = collected();
  let agent: ScriptedVapi | undefined;
  const format = formatOf({ ...options });
  const result = await executeCall({
    definition: normalise(definition),
    scenario: { scenarioText: 'You want a table.' },
    personality: { name: 'Caller' },
    transport: virtualCalls({
      wire: vapiEntry({ format, addresses, secrets: addresses }),
      lineRate: lineRateOf({ ...options }),
      agent: (socket) => (agent = new ScriptedVapi(socket, script)),
    }),
    voice: { sounds: SOUNDS, voice: 'any', recording: recording.sink },
  });
  return { ...result, agent: agent!, wire: recording.wire };
}

export type Executed = Awaited<ReturnType<typeof execute>>;

export const spoken = ({ timeline }: Executed) =>
  timeline.flatMap((entry) => (entry.type === 'speech' && entry.speaker === 'agent' ? [entry] : []));

export const codesOf = ({ voice }: Executed) => voice!.wireFindings.map(({ code }) => code);
