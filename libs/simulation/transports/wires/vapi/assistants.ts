import { READ_LIMITS } from '../../../other-side/read-limits.js';
import { PlatformApi } from '../../http/platform-api.js';
import type { Assistant, ListAssistants } from '../../modules/assistants.js';
import { type Json, listedText, objectOf, textOf } from '../fields.js';
import { VAPI_RULES } from './refusals.js';

/** The most that the platform lists at once; its lists have no pages. */
const LIMIT = '1000';
/** Transcribers have values such as `multi`, too. */
const LANGUAGE = /^[a-z]{2,3}(-[A-Za-z]{2,4})?$/;

/** Assistants of an account, with the telephone numbers that lead to them. */
export const vapiAssistants: ListAssistants = async (account, { offset, limit }, signal) => {
  const api = new PlatformApi(VAPI_RULES, account);
  const list = async (path: string): Promise<Json[]> => {
    const found = await api.json(path, { query: { limit: LIMIT }, limit: READ_LIMITS.list, signal });
    if (!Array.isArray(found)) throw api.notUnderstood('its answer is not a list');
    return found.map(objectOf);
  };
  const named = (await list('/assistant')).filter(({ id }) => textOf(id) !== null);
  const all = [...new Map(named.map((one) => [one['id'], one])).values()];
  const shown = all.slice(offset, offset + limit);
  const numbers = shown.length === 0 ? [] : await list('/phone-number');
  const items = shown.map((one) =>
    assistantOf(
      one,
      numbers.find(({ assistantId }) => assistantId === one['id']),
    ),
  );
  return { items, total: all.length };
};

function assistantOf({ id, name, model, transcriber }: Json, number: Json = {}): Assistant {
  const language = textOf(objectOf(transcriber)['language']);
  return {
    assistantId: textOf(id)!,
    name: listedText(name),
    language: language !== null && LANGUAGE.test(language) ? language : null,
    phoneNumber: textOf(number['number']),
    phoneNumberId: textOf(number['id']),
    prompt: promptOf(objectOf(model)),
  };
}

function promptOf({ messages }: Json): string | null {
  const prompts = Array.isArray(messages) ? messages.map(objectOf).filter(({ role }) => role === 'system') : [];
  return listedText(prompts[0]?.['content']);
}
