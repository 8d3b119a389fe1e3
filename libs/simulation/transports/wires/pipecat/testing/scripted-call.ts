import { type DefinitionInput, normalise } from '../../../../../evaluation-definition/index.js';
import { executeCall } from '../../../../index.js';
import { virtualCalls } from '../../../../voice/call/virtual-call.js';
import { collected, SOUNDS } from '../../../../voice/testing/virtual-calls.js';
import { type PipecatScript, ScriptedPipecat } from '../../../../../../test/simulators/pipecat/scripted.js';
import pipecatEntry, { type PipecatState } from '../wire.js';

export const WAITS = { script: [{ waitSeconds: 6 }, { end: 'Done' }] } as const satisfies DefinitionInput;
/** The caller barges in 1,000 ms after the agent's onset, and speaks for 900 ms. */
export const BARGES_IN = {
  script: [{ say: 'Sorry, one moment.', bargeIn: { afterMs: 1_000 } }, { waitSeconds: 3 }, { end: 'Done' }],
} as const satisfies DefinitionInput;

/** A call on virtual time to a bot that does what its script says. */
export async function execute(
  script: PipecatScript,
  definition: DefinitionInput = WAITS,
  state: Partial<PipecatState> = {},
  onSent: (data: string | Uint8Array) => void = () => undefined,
) {
  const recording = collected();
  let agent: ScriptedPipecat | undefined;
  const mockedTools = (definition.toolResults ?? []).map(({ tool }) => tool);
  const own = { rate: 16_000, speaksRtvi: true, showsTools: true, mockedTools, addresses: [], secrets: [] } as const;
  const result = await executeCall({
    definition: normalise(definition),
    scenario: { scenarioText: 'You want a table.' },
    personality: { name: 'Caller' },
    transport: virtualCalls({
      wire: pipecatEntry({ ...own, ...state }),
      lineRate: 24_000,
      agent: (socket) => {
        const bot = (agent = new ScriptedPipecat(socket, script));
        const onMessage = (now: number, data: string | Uint8Array) => {
          onSent(data);
          bot.onMessage(now, data);
        };
        return { onMessage, tick: (now) => bot.tick(now) };
      },
    }),
    voice: { sounds: SOUNDS, voice: 'any', recording: recording.sink },
  });
  return { ...result, agent: agent!, wire: recording.wire };
}

export type Executed = Awaited<ReturnType<typeof execute>>;

export const spoken = ({ timeline }: Executed) =>
  timeline.flatMap((entry) => (entry.type === 'speech' && entry.speaker === 'agent' ? [entry] : []));
export const codesOf = ({ voice }: Executed) => voice!.wireFindings.map(({ code }) => code);
