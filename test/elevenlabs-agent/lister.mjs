// Lists the agents of accounts with the Node SDK of ElevenLabs, and reads the description of each. Prints lines of JSON, each
// with the index of its account.
//
//     node lister.mjs [API_URL KEY PAGE_SIZE]...
import { ElevenLabsClient } from '@elevenlabs/elevenlabs-js';

async function list(baseUrl, apiKey, pageSize, print) {
  const { agents } = new ElevenLabsClient({ apiKey, baseUrl }).conversationalAi;
  const ids = [];
  let page;
  do {
    page = await agents.list({ pageSize, archived: false, cursor: page?.nextCursor });
    print({ type: 'page', names: page.agents.map(({ name }) => name) });
    ids.push(...page.agents.map(({ agentId }) => agentId));
  } while (page.hasMore);
  for (const id of ids) {
    const { name, conversationConfig, phoneNumbers } = await agents.get(id);
    const { language, prompt } = conversationConfig.agent;
    const numbers = phoneNumbers.map(({ phoneNumber, phoneNumberId }) => ({ phoneNumber, phoneNumberId }));
    print({ type: 'agent', id, name, language, prompt: prompt?.prompt, numbers });
  }
}

const accounts = process.argv.slice(2);
for (let account = 0; account * 3 < accounts.length; account++) {
  const [baseUrl, apiKey, pageSize] = accounts.slice(account * 3);
  const print = (event) => process.stdout.write(`${JSON.stringify({ account, ...event })}\n`);
  await list(baseUrl, apiKey, Number(pageSize), print).catch((error) =>
    print({ type: 'error', status: error.statusCode }),
  );
}
