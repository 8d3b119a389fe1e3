import { SIZES } from './database.mjs';

const PAGE = 25;
/** What the pages of a large list are compared with. */
export const SMALL_LIST = 'list-1k';
export const LARGE_LISTS = ['list-1m-first', 'list-1m-1000', 'list-1m-last'];
export const CONNECTIONS = [1, 32, 256];

const get = (path, { apiKey }) => ({ method: 'GET', path, key: apiKey });

/** What is asked of the subjects, by name. */
export function works({ thousand, million, written }) {
  const lastPage = SIZES.million / PAGE;
  const agent = {
    provider: 'AGENT_PROVIDER_1',
    assistantId: 'assistant-1',
    apiKey: 'provider-key-1',
    name: 'Bella Vista reservations',
    type: 'INBOUND',
    language: 'en-US',
    phoneNumber: '+15550100',
  };
  return [
    { id: 'get-one', title: 'GET one agent', requests: thousand.ids.map((id) => get(`/agents/${id}`, thousand)) },
    { id: SMALL_LIST, title: 'List 25 of 1,000', requests: [get('/agents', thousand)] },
    {
      id: 'list-1k-provider',
      title: 'List 25 of 1,000, by provider',
      requests: [1, 2, 3, 4].map((n) => get(`/agents?provider=AGENT_PROVIDER_${n}`, thousand)),
    },
    {
      id: 'list-1k-search',
      title: 'List 25 of 1,000, searched',
      requests: [1, 3, 5, 7].map((n) => get(`/agents?search=line+${n}`, thousand)),
    },
    { id: 'list-1m-first', title: 'List 25 of 1,000,000, page 1', requests: [get('/agents', million)] },
    { id: 'list-1m-1000', title: 'List 25 of 1,000,000, page 1,000', requests: [get('/agents?page=1000', million)] },
    {
      id: 'list-1m-last',
      title: `List 25 of 1,000,000, page ${lastPage.toLocaleString('en')}`,
      requests: [get(`/agents?page=${lastPage}`, million)],
    },
    {
      id: 'list-1m-provider',
      title: 'List 25 of 1,000,000, by provider',
      requests: [get('/agents?provider=AGENT_PROVIDER_1', million)],
    },
    {
      id: 'list-1m-search',
      title: 'List 25 of 1,000,000, searched',
      requests: [get('/agents?search=line+7', million)],
    },
    {
      id: 'create',
      title: 'Create an agent',
      requests: [{ method: 'POST', path: '/agents', key: written.apiKey, body: agent }],
    },
    {
      id: 'patch',
      title: 'Change an agent',
      requests: written.ids.map((id, i) => ({
        method: 'PATCH',
        path: `/agents/${id}`,
        key: written.apiKey,
        body: { name: `Bella Vista ${i}`, callMonitoring: i % 2 === 0 },
      })),
    },
  ];
}
