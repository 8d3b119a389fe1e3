import { FAULTS_OVER } from '../agent/voice/platform-faults.js';

/** The account: an agent with the fault of the server, one without a fault, and one with each fault. */
const AGENTS: ReadonlyMap<string, string> = new Map([
  ['booking', 'Bella Vista'],
  ...['healthy', ...FAULTS_OVER.elevenlabs].map((fault) => [`booking:${fault}`, `Bella Vista, ${fault}`] as const),
]);
const PROMPT = 'You take reservations for the restaurant Bella Vista.';
const CREATED = { created_at_unix_secs: 1_764_000_000 };
const ACCESS = { is_creator: true, creator_name: 'Reference', creator_email: 'reference@example.com', role: 'admin' };

/** The list of agents: one page, as large as it must be. */
export const listOfAgents = (): object => ({
  agents: [...AGENTS].map(([agent_id, name]) => ({
    ...{ agent_id, name, voice_id: 'embedded', tags: [], ...CREATED, access_info: ACCESS },
  })),
  next_cursor: null,
  has_more: false,
});

/** The description of an agent; undefined if there is none. */
export function agentOf(agent_id: string): object | undefined {
  const name = AGENTS.get(agent_id);
  const agent = { language: 'en', prompt: { prompt: PROMPT } };
  return name === undefined
    ? undefined
    : {
        agent_id,
        name,
        conversation_config: { agent },
        metadata: { ...CREATED, updated_at_unix_secs: 0 },
        phone_numbers: [],
      };
}
