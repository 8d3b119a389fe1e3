// Lists the conversations of an agent that began in a time with the Node SDK of ElevenLabs, page by page, and reads each. Prints
// lines of JSON. The SDK checks both by its schemas.
//
//     node records.mjs API_URL KEY AGENT_ID FROM UNTIL   (Unix seconds)
import { ElevenLabsClient } from '@elevenlabs/elevenlabs-js';

const [, , baseUrl, apiKey, agentId, from, until] = process.argv;
const { conversations } = new ElevenLabsClient({ apiKey, baseUrl }).conversationalAi;
let page;
do {
  page = await conversations.list({
    ...{ agentId, pageSize: 2, cursor: page?.nextCursor },
    ...{ callStartAfterUnix: Number(from), callStartBeforeUnix: Number(until) },
  });
  for (const { conversationId } of page.conversations) {
    process.stdout.write(`${JSON.stringify({ record: await conversations.get(conversationId) })}\n`);
  }
} while (page.hasMore);
