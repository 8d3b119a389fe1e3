// Lists the agents of an account with the Node SDK of ElevenLabs, and reads the description of each. Prints lines of JSON.
//
//     node lister.mjs API_URL KEY PAGE_SIZE
import { ElevenLabsClient } from '@elevenlabs/elevenlabs-js';

const [, , baseUrl, apiKey, pageSize] = process.argv;
const print = (event) => process.stdout.write(`${JSON.stringify(event)}\n`);
const { agents } = new ElevenLabsClient({ apiKey, baseUrl }).conversationalAi;
try {
  const ids = [];
  let page;
  do {
    page = await agents.list({ pageSize: Number(pageSize), archived: false, cursor: page?.nextCursor });
    print({ type: 'page', names: page.agents.map(({ name }) => name) });
    ids.push(...page.agents.map(({ agentId }) => agentId));
  } while (page.hasMore);
  for (const id of ids) {
    const { name, conversationConfig, phoneNumbers } = await agents.get(id);
    const { language, prompt } = conversationConfig.agent;
    const numbers = phoneNumbers.map(({ phoneNumber, phoneNumberId }) => ({ phoneNumber, phoneNumberId }));
    print({ type: 'agent', id, name, language, prompt: prompt?.prompt, numbers });
  }
} catch (error) {
  print({ type: 'error', status: error.statusCode });
}
