// Lists the calls of an agent that ended in a time with the SDK of Retell, page by page, and reads each. Prints lines of JSON.
//
//     RETELL_API_KEY=KEY node records.mjs URL AGENT_ID FROM UNTIL   (Unix milliseconds)
import Retell from 'retell-sdk';

const [, , baseURL, agent_id, from, until] = process.argv;
const { call } = new Retell({ baseURL, maxRetries: 0 });
const filter_criteria = {
  agent: [{ agent_id }],
  end_timestamp: { type: 'range', op: 'bt', value: [Number(from), Number(until)] },
};
for (let key, more = true; more;) {
  const page = await call.list({ filter_criteria, sort_order: 'ascending', limit: 2, pagination_key: key });
  for (const { call_id } of page.items) {
    process.stdout.write(`${JSON.stringify({ record: await call.retrieve(call_id) })}\n`);
  }
  ({ has_more: more, pagination_key: key } = page);
}
