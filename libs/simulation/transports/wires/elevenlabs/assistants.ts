import { PrioritySemaphore } from '../../../../concurrency/index.js';
import { PlatformApi } from '../../http/platform-api.js';
import type { Assistant, ListAssistants } from '../../modules/assistants.js';
import { listedText, objectOf, textOf } from '../fields.js';
import { ELEVENLABS_RULES } from './refusals.js';

const PATH = '/v1/convai/agents';
/** The most that the platform lists at once. */
const PAGE_SIZE = '100';
const MAX_PAGES = 50;
const DESCRIBED_AT_ONCE = 4;

type Listed = Pick<Assistant, 'assistantId' | 'name'>;

/** Agents of an account: their list has names only, so each agent of the window is asked for by itself. */
export const elevenlabsAssistants: ListAssistants = async (account, { offset, limit }, signal) => {
  const api = new PlatformApi(ELEVENLABS_RULES, account);
  const all = await listed(api, signal);
  const semaphore = new PrioritySemaphore(DESCRIBED_AT_ONCE);
  const shown = all.slice(offset, offset + limit);
  const items = await Promise.all(shown.map((one) => semaphore.run(() => described(api, one, signal), { signal })));
  return { items, total: all.length };
};

async function listed(api: PlatformApi, signal: AbortSignal): Promise<Listed[]> {
  const found = new Map<string, Listed>();
  let cursor: string | null = null;
  for (let number = 0; number < MAX_PAGES; number++) {
    const query = { page_size: PAGE_SIZE, archived: 'false', ...(cursor !== null && { cursor }) };
    const page = await api.json(PATH, { query, signal });
    const { agents, has_more, next_cursor } = objectOf(page);
    if (!Array.isArray(agents)) throw api.notUnderstood('its list has no agents');
    for (const one of agents) {
      const { agent_id, name } = objectOf(one);
      const assistantId = textOf(agent_id);
      if (assistantId !== null) found.set(assistantId, { assistantId, name: listedText(name) });
    }
    cursor = textOf(next_cursor);
    if (has_more !== true || cursor === null) return [...found.values()];
  }
  throw api.notUnderstood(`its list has more than ${MAX_PAGES} pages`);
}

async function described(api: PlatformApi, { assistantId, name }: Listed, signal: AbortSignal): Promise<Assistant> {
  const path = `${PATH}/${encodeURIComponent(assistantId.toWellFormed())}`;
  const agent = objectOf(await api.json(path, { signal }));
  const { language, prompt } = objectOf(objectOf(agent['conversation_config'])['agent']);
  const { phone_numbers: numbers } = agent;
  const { phone_number, phone_number_id } = objectOf(Array.isArray(numbers) ? numbers[0] : undefined);
  return {
    assistantId,
    name: listedText(agent['name']) ?? name,
    language: textOf(language),
    phoneNumber: textOf(phone_number),
    phoneNumberId: textOf(phone_number_id),
    prompt: listedText(objectOf(prompt)['prompt']),
  };
}
