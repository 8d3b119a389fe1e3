import { PrioritySemaphore } from '../../../../concurrency/index.js';
import { CallFailure } from '../../../timeline/failure.js';
import type { Assistant, ListAssistants } from '../../modules/assistants.js';
import { Api } from './api.js';

const PATH = '/v1/convai/agents';
/** The most that the platform lists at once. */
const PAGE_SIZE = '100';
const MAX_PAGES = 50;
const MAX_PAGE_BYTES = 1024 * 1024;
/** A description has the prompt, the tools and the workflow of the agent. */
const MAX_AGENT_BYTES = 4 * 1024 * 1024;
const DESCRIBED_AT_ONCE = 4;

type Json = Readonly<Record<string, unknown>>;
type Listed = Pick<Assistant, 'assistantId' | 'name'>;

/** Agents of an account: their list has names only, so each agent of the window is asked for by itself. */
export const elevenlabsAssistants: ListAssistants = async (account, { offset, limit }, signal) => {
  const api = new Api(account);
  const all = await listed(api, signal);
  const semaphore = new PrioritySemaphore(DESCRIBED_AT_ONCE);
  const shown = all.slice(offset, offset + limit);
  const items = await Promise.all(shown.map((one) => semaphore.run(() => described(api, one, signal), { signal })));
  return { items, total: all.length };
};

async function listed(api: Api, signal: AbortSignal): Promise<Listed[]> {
  const found = new Map<string, Listed>();
  let cursor: string | null = null;
  for (let page = 0; page < MAX_PAGES; page++) {
    const query = { page_size: PAGE_SIZE, archived: 'false', ...(cursor !== null && { cursor }) };
    const { agents, has_more, next_cursor } = parsed(
      api,
      await api.get(PATH, { query, maxBytes: MAX_PAGE_BYTES, signal }),
    );
    if (!Array.isArray(agents)) throw unreadable(api, 'its list has no agents');
    for (const one of agents) {
      const { agent_id, name } = objectOf(one);
      const assistantId = textOf(agent_id);
      if (assistantId !== null) found.set(assistantId, { assistantId, name: textOf(name) });
    }
    cursor = textOf(next_cursor);
    if (has_more !== true || cursor === null) return [...found.values()];
  }
  throw unreadable(api, `its list has more than ${MAX_PAGES} pages`);
}

async function described(api: Api, { assistantId, name }: Listed, signal: AbortSignal): Promise<Assistant> {
  const path = `${PATH}/${encodeURIComponent(assistantId.toWellFormed())}`;
  const agent = parsed(api, await api.get(path, { maxBytes: MAX_AGENT_BYTES, signal }));
  const { language, prompt } = objectOf(objectOf(agent['conversation_config'])['agent']);
  const { phone_numbers: numbers } = agent;
  const { phone_number, phone_number_id } = objectOf(Array.isArray(numbers) ? numbers[0] : undefined);
  return {
    assistantId,
    name: textOf(agent['name']) ?? name,
    language: textOf(language),
    phoneNumber: textOf(phone_number),
    phoneNumberId: textOf(phone_number_id),
    prompt: textOf(objectOf(prompt)['prompt']),
  };
}

function parsed(api: Api, body: string): Json {
  try {
    return objectOf(JSON.parse(body));
  } catch {
    throw unreadable(api, 'its answer is not JSON, or too long');
  }
}

const unreadable = (api: Api, what: string) => new CallFailure('bad_response', api.platform.describe({ what }));

const objectOf = (value: unknown): Json => (typeof value === 'object' && value !== null ? (value as Json) : {});

const textOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);
