// Calls the API of Retell with its SDK and prints what it answers as lines of JSON: a turn of a conversation, the free lines, and the
// voice agents of the account.
//
//     RETELL_API_KEY=KEY node client.mjs URL AGENT_ID BODY
import Retell from 'retell-sdk';

const [, , baseURL, agentId, body] = process.argv;
const client = new Retell({ baseURL, maxRetries: 0 });
const print = async (name, answer) => {
  const printed = await answer.then(
    (value) => ({ name, value }),
    ({ status, message }) => ({ name, status, message }),
  );
  process.stdout.write(`${JSON.stringify(printed)}\n`);
};
await print('completion', client.playground.completion(agentId, { ...JSON.parse(body), version: 3 }));
await print('concurrency', client.concurrency.retrieve());
const voice = { filter_criteria: { channel: { type: 'string', op: 'eq', value: 'voice' } } };
await print('agents', client.agent.list(voice));
await print('agent', client.agent.retrieve(agentId));
