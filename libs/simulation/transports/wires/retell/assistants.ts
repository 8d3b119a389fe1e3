import { PrioritySemaphore } from '../../../../concurrency/index.js';
import type { Assistant, ListAssistants } from '../../modules/assistants.js';
import { type Json, listedText, objectOf, textOf } from '../fields.js';
import { RetellApi } from '../retell-api/api.js';

/** The most that the platform lists at once. */
const PAGE_SIZE = 100;
const MAX_PAGES = 50;
const DESCRIBED_AT_ONCE = 4;
const VOICE = JSON.stringify({ filter_criteria: { channel: { type: 'string', op: 'eq', value: 'voice' } } });

type Listed = Pick<Assistant, 'assistantId' | 'name'>;

/** Voice agents of an account: their list has names only, so each agent of the window is asked for by itself. */
export const retellAssistants: ListAssistants = async (account, { offset, limit }, signal) => {
  const api = new RetellApi(account);
  const ask = (method: 'GET' | 'POST', path: string, more: { query?: Record<string, string>; body?: string } = {}) =>
    api.object(path, { method, signal, ...more });
  const found = new Map<string, Listed>();
  let key: string | null = null;
  for (let page = 0; ; page++) {
    if (page === MAX_PAGES) throw api.failure('bad_response', { what: `its list has more than ${MAX_PAGES} pages` });
    const query = { limit: String(PAGE_SIZE), ...(key !== null && { pagination_key: key }) };
    const { items, has_more, pagination_key } = await ask('POST', '/v2/list-agents', { query, body: VOICE });
    if (!Array.isArray(items)) throw api.failure('bad_response', { what: 'its list has no items' });
    for (const { agent_id, agent_name } of items.map(objectOf)) {
      const assistantId = textOf(agent_id);
      if (assistantId !== null) found.set(assistantId, { assistantId, name: listedText(agent_name) });
    }
    key = textOf(pagination_key);
    if (has_more !== true || key === null) break;
  }
  const all = [...found.values()];
  const semaphore = new PrioritySemaphore(DESCRIBED_AT_ONCE);
  const describe = async ({ assistantId, name }: Listed): Promise<Assistant> => {
    const agent = await ask('GET', `/get-agent/${encodeURIComponent(assistantId.toWellFormed())}`);
    const prompt = await promptOf(objectOf(agent['response_engine']), ask);
    const described = {
      assistantId,
      name: listedText(agent['agent_name']) ?? name,
      language: textOf(agent['language']),
    };
    return { ...described, phoneNumber: null, phoneNumberId: null, prompt };
  };
  const shown = all.slice(offset, offset + limit);
  const items = await Promise.all(shown.map((one) => semaphore.run(() => describe(one), { signal })));
  return { items, total: all.length };
};

/** Agents with a flow of nodes, or with a model of their own, have no prompt here. */
async function promptOf(engine: Json, ask: (method: 'GET', path: string) => Promise<Json>): Promise<string | null> {
  const id = engine['type'] === 'retell-llm' ? textOf(engine['llm_id']) : null;
  if (id === null) return null;
  return listedText((await ask('GET', `/get-retell-llm/${encodeURIComponent(id.toWellFormed())}`))['general_prompt']);
}
