// Before anything is measured: do all subjects do the same work? They answer the same questions, and must agree.
import { isDeepStrictEqual } from 'node:util';

const UNKNOWN = '00000000-0000-4000-8000-000000000000';
const SAME_HEADERS = ['content-type', 'x-ratelimit-limit', 'x-api-version', 'cache-control', 'www-authenticate'];
const NEEDED_HEADERS = ['x-ratelimit-remaining', 'x-ratelimit-reset', 'x-request-id'];
/** Differ from one creation, or one moment, to the next. */
const OWN_FIELDS = ['id', 'created_at', 'updated_at'];

/** @throws Error with the question and both answers where one subject differs from the first */
export async function checkSubjects(subjects, { thousand, million, written }) {
  const [id] = thousand.ids;
  const key = thousand.apiKey;
  const valid = {
    provider: 'AGENT_PROVIDER_2',
    assistantId: 'a',
    apiKey: 'schlüssel',
    webhookSecret: 's',
    prompt: null,
  };
  const questions = [
    ...thousand.ids.slice(0, 6).map((one) => ({ path: `/agents/${one}`, key, status: 200 })),
    ...['', '?page=2&limit=100', '?page=41', '?provider=AGENT_PROVIDER_3', '?search=LINE+7', '?search=%25'].map(
      (query) => ({ path: `/agents${query}`, key, status: 200 }),
    ),
    { path: '/agents?provider=AGENT_PROVIDER_1&search=assistant-2&limit=3', key, status: 200 },
    { path: '/agents?page=1000', key: million.apiKey, status: 200 },
    ...['page=0', 'page=x', 'page=1&page=2', 'limit=101', 'limit=', 'provider=X', 'search=', 'foo=1'].map((query) => ({
      path: `/agents?${query}`,
      key,
      status: 400,
    })),
    { path: '/agents?page=9007199254740991', key, status: 400 },
    { path: '/agents', status: 401 },
    { path: '/agents', key: 'no-such-key-at-all', status: 401 },
    { path: `/agents/${UNKNOWN}`, key, status: 404 },
    { path: '/agents/x', key, status: 404 },
    { path: '/nowhere', key, status: 404 },
    { path: `/agents/${id}`, key: million.apiKey, status: 403 },
    ...[{}, { ...valid, provider: 'X' }, { ...valid, name: 1 }, { ...valid, webhookUrl: 'x' }].map((body) => ({
      method: 'POST',
      path: '/agents',
      key,
      body,
      status: 400,
    })),
    { method: 'POST', path: '/agents', key, text: '{', status: 400 },
    { method: 'POST', path: '/agents', key: written.apiKey, body: valid, status: 201 },
    { method: 'PATCH', path: `/agents/${id}`, key, body: { apiKey: null }, status: 400 },
    { method: 'PATCH', path: `/agents/${id}`, key: million.apiKey, body: { name: 'x' }, status: 403 },
    { method: 'PATCH', path: `/agents/${UNKNOWN}`, key, body: { name: 'x' }, status: 404 },
    {
      method: 'PATCH',
      path: `/agents/${written.ids[0]}`,
      key: written.apiKey,
      body: { name: 'Anew', apiKey: 'neu', isUsingDefaultApiKey: true, callMonitoring: true },
      status: 200,
    },
  ];
  for (const question of questions) {
    const answers = [];
    for (const subject of subjects) answers.push(await ask(subject, question));
    answers.forEach((answer, i) => {
      if (answer.status === question.status && isDeepStrictEqual(answer, answers[0])) return;
      const texts = [subjects[0], subjects[i]].map(({ name }, j) => `${name}: ${JSON.stringify(answers[j * i])}`);
      throw new Error(`Not the same work, ${JSON.stringify(question)}\n${texts.join('\n')}`);
    });
  }
  await checkSecrets(subjects, written);
}

/** What one subject has sealed, every other one must be able to open. */
async function checkSecrets(subjects, { apiKey }) {
  const body = { provider: 'AGENT_PROVIDER_1', assistantId: 'a', apiKey: 'one', webhookSecret: 'two' };
  for (const writer of subjects) {
    const { body: made } = await ask(writer, { method: 'POST', path: '/agents', key: apiKey, body }, []);
    for (const reader of subjects) {
      const { body: read } = await ask(reader, { path: `/agents/${made.data.id}`, key: apiKey }, []);
      if (isDeepStrictEqual(read.data, made.data)) continue;
      throw new Error(`${reader.name} does not read what ${writer.name} wrote`);
    }
  }
}

async function ask({ name, port }, { method = 'GET', path, key, body, text }, hidden = OWN_FIELDS) {
  const content = text ?? (body && JSON.stringify(body));
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: { ...(key && { Authorization: `Bearer ${key}` }), ...(content && { 'Content-Type': 'application/json' }) },
    body: content,
  });
  for (const header of NEEDED_HEADERS) {
    if (!response.headers.has(header)) throw new Error(`${name} answers ${method} ${path} without ${header}`);
  }
  const answer = await response.json();
  if (method !== 'GET') for (const field of hidden) if (answer.data) delete answer.data[field];
  const headers = SAME_HEADERS.map((header) => response.headers.get(header));
  return { status: response.status, headers, body: answer };
}
