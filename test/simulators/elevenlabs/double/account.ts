/** An agent of the account, with what its description says. */
export interface ListedAgent {
  readonly id: string;
  readonly name: string;
  readonly language?: string;
  readonly prompt?: string;
  readonly phoneNumber?: string;
}

const CREATED = 1_764_000_000;
const ACCESS = {
  ...{ is_creator: true, creator_name: 'Anna Rossi', creator_email: 'anna@example.com', role: 'admin' },
  access_source: 'creator',
};

/** A page of the list: `GET /v1/convai/agents`. @returns undefined for a query that the platform refuses with 422 */
export function pageOfAgents(agents: readonly ListedAgent[], query: URLSearchParams): object | undefined {
  const size = Number(query.get('page_size') ?? 30);
  const from = Number(query.get('cursor')?.replace('cursor-', '') ?? 0);
  if (!Number.isInteger(size) || size < 1 || size > 100 || !Number.isInteger(from)) return undefined;
  const hasMore = from + size < agents.length;
  return {
    agents: agents.slice(from, from + size).map(({ id, name }) => ({
      ...{ agent_id: id, name, voice_id: 'voice_1', tags: [], created_at_unix_secs: CREATED, access_info: ACCESS },
      ...{ last_call_time_unix_secs: null, archived: false },
    })),
    next_cursor: hasMore ? `cursor-${from + size}` : null,
    has_more: hasMore,
  };
}

/** A description: `GET /v1/convai/agents/{id}`. */
export const descriptionOf = ({ id, name, language, prompt, phoneNumber }: ListedAgent): object => ({
  agent_id: id,
  name,
  conversation_config: {
    agent: {
      first_message: 'Good evening.',
      ...(language !== undefined && { language }),
      ...(prompt !== undefined && { prompt: { prompt, llm: 'gpt-4o', temperature: 0, tools: [] } }),
    },
  },
  metadata: { created_at_unix_secs: CREATED, updated_at_unix_secs: CREATED },
  phone_numbers:
    phoneNumber === undefined
      ? []
      : [{ provider: 'twilio', phone_number: phoneNumber, label: 'Main', phone_number_id: `${id}-phone` }],
  access_info: ACCESS,
  tags: [],
});
