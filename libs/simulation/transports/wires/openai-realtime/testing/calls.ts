import { type DefinitionInput, normalise } from '../../../../../evaluation-definition/index.js';
import { executeCall } from '../../../../index.js';
import { virtualCalls } from '../../../../voice/call/virtual-call.js';
import { collected, SOUNDS } from '../../../../voice/testing/virtual-calls.js';
import { flatSession, sessionOf } from '../options.js';
import realtimeEntry from '../wire.js';
import {
  type RealtimeScript,
  ScriptedRealtime,
} from '../../../../../../test/simulators/openai-realtime/double/agent.js';

export const WAITS = { script: [{ waitSeconds: 6 }, { end: 'Done' }] } as const satisfies DefinitionInput;
/** The caller barges in 1,000 ms after the agent's onset, and speaks for 900 ms. */
export const BARGES_IN = {
  script: [{ say: 'Sorry, one moment.', bargeIn: { afterMs: 1_000 } }, { waitSeconds: 3 }, { end: 'Done' }],
} as const satisfies DefinitionInput;
export const GREETING = 'Good evening, this is Bella Vista, how can I help you tonight?';

/** A call on virtual time. */
export async function execute(
  script: RealtimeScript,
  definition: DefinitionInput = WAITS,
  options: Readonly<Record<string, unknown>> = {},
) {
  const recording = collected();
  const session = sessionOf(options);
  let agent: ScriptedRealtime | undefined;
  const result = await executeCall({
    definition: normalise(definition),
    scenario: { scenarioText: 'You want a table.' },
    personality: { name: 'Caller' },
    transport: virtualCalls({
      wire: realtimeEntry({ session, flat: flatSession(session), greets: true, secrets: [] }),
      agent: (socket) => (agent = new ScriptedRealtime(socket, script)),
    }),
    voice: { sounds: SOUNDS, voice: 'any', recording: recording.sink },
  });
  return { ...result, agent: agent!, wire: recording.wire };
}

type Executed = Awaited<ReturnType<typeof execute>>;
export const spoken = ({ timeline }: Executed) =>
  timeline.flatMap((entry) => (entry.type === 'speech' && entry.speaker === 'agent' ? [entry] : []));
export const codesOf = ({ voice }: Executed) => voice!.wireFindings.map(({ code }) => code);
