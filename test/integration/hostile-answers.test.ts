import { tone } from '../../libs/audio/index.js';
import { OutboundClient } from '../../libs/outbound-http/index.js';
import { chatCompletions, LanguageModel, RealClock, type CallResult } from '../../libs/simulation/index.js';
import { agentSaying, call } from '../../libs/simulation/testing/calls.js';
import { stubModel, verdict } from '../simulators/model/llm-stub.js';
import { delta, event, TestServers } from '../simulators/servers.js';
import { handleOf } from '../../libs/simulation/testing/vapi.js';
import { HttpRecogniser } from '../../libs/speech/index.js';
import { TranscriptionDouble } from '../simulators/transcription/transcription-double.js';
import { compared } from '../support/hostile/compared.js';
import { ExchangeProxy } from '../support/hostile/exchange-proxy.js';
import { FieldsOfExchange } from '../support/hostile/fields-of-exchange.js';
import { fieldsOf, shownField, withField } from '../support/hostile/fields.js';
import { hostOf } from '../support/hostile/platforms.js';
import { HOSTILE_VALUES, unstorable } from '../support/hostile/values.js';

const client = new OutboundClient({ allowedNetworks: ['127.0.0.0/8'] });
const servers = new TestServers();
let proxy: ExchangeProxy | undefined;
afterEach(async () => {
  await proxy?.stop();
  await servers.close();
});

/** Half a pair or U+0000, of which the parsers of several servers say 400. */
const isRefused = (body: unknown): boolean => /(?<!\\)(\\\\)*\\u(d[89a-f]|0000)/i.test(JSON.stringify(body));

/** Before a server: notes fields of its answers, and changes them. */
async function before(host: string): Promise<{ exchange: FieldsOfExchange; at: (variant: string) => string }> {
  const exchange = new FieldsOfExchange();
  const started = (proxy = await ExchangeProxy.start(host, exchange));
  return { exchange, at: (variant) => `http://${started.host}/${variant}` };
}

describe("the tester's language model", () => {
  it('plays the caller and judges with the same verdict, whichever field of its answers is hostile', async () => {
    let refusals = 0;
    const { url } = await stubModel(servers, (asked) => {
      if (isRefused(asked.messages)) {
        refusals++;
        return (response) => response.writeHead(400).end('{"error":"no low surrogate in string"}');
      }
      if (asked.role === 'judge') return verdict(asked, true);
      return asked.messages.length < 3 ? { say: 'Hello, a table please.', end: null } : { say: null, end: 'Booked' };
    });
    const { exchange, at } = await before(hostOf(url));
    const run = (variant: string): Promise<CallResult> =>
      call(
        { criteria: [{ text: 'The agent greets.' }] },
        {
          transport: agentSaying(['Welcome, a table for four.', 'Booked.']),
          model: new LanguageModel({ baseUrl: at(variant), model: 'stub', timeoutMs: 20_000 }),
        },
      );
    expect(await run('healthy')).toMatchObject({ outcome: 'passed' });
    const verdictOf = ({ outcome, failure, end, criteria }: CallResult) =>
      JSON.stringify([outcome, failure?.code, end.code, criteria.map((one) => one.verdict)]);
    const { wrong } = await compared(exchange, run, verdictOf, { atOnce: 10 });
    expect([wrong, refusals]).toEqual([[], 0]);
  }, 300_000);
});

describe('a transcription server', () => {
  it('gives words that can be stored, whichever field of its answers is hostile', async () => {
    const words = ['Good', 'evening,', 'welcome!'].map((word, n) => ({ word, start: n * 0.5, end: n * 0.5 + 0.4 }));
    const text = 'Good evening, welcome!';
    const segments = [{ id: 0, start: 0, end: 1.4, text, words }];
    const body = { text, words, segments, language: 'en', duration: 2 };
    const server = new TranscriptionDouble(() => ({ body }));
    const { exchange, at } = await before(hostOf(await server.start()));
    const pcm = tone([440], { rate: 8_000, ms: 2_000, dbfs: -20 });
    const run = (variant: string) =>
      new HttpRecogniser({ baseUrl: at(variant), concurrency: 1, outbound: client })
        .transcribe({ pcm, rate: 8_000, language: 'en', owner: '' })
        .catch((error: Error) => ({ text: error.message, words: [] }));
    expect(await run('healthy')).toMatchObject({ text });
    const outcome = (heard: Awaited<ReturnType<typeof run>>) => JSON.stringify([heard === null, heard?.words?.length]);
    const { wrong } = await compared(exchange, run, outcome, { atOnce: 10 });
    await server.stop();
    expect(wrong).toEqual([]);
  }, 300_000);
});

describe('the conversation that is sent back to an agent', () => {
  const script = [{ say: 'Hello' }, { say: 'Thanks' }, { end: 'Done' }];
  const run = async (url: string) =>
    call({ script }, { transport: chatCompletions({ client, url, assistantId: 'a' }), clock: new RealClock() });

  // anthropics/claude-code#68325, CherryHQ/cherry-studio#20614, esengine/DeepSeek-Reasonix#1939, anomalyco/opencode#17758
  it.each(HOSTILE_VALUES.filter(([, json]) => json.startsWith('"')))(
    'has nothing that strict parsers refuse: %s',
    async (_what, json) => {
      const said = JSON.parse(json) as string;
      const tool = { id: said, type: 'function', function: { name: said, arguments: '{}' } };
      const url = await servers.http((response, body) => {
        if (isRefused(body)) return void response.writeHead(400).end('{"error":"unexpected end of hex escape"}');
        const isResult = body.messages.at(-1).role === 'tool';
        const message = { content: said, ...(!isResult && { tool_calls: [tool] }) };
        const choices = [{ message, finish_reason: isResult ? 'stop' : 'tool_calls' }];
        response.setHeader('content-type', 'application/json');
        response.end(JSON.stringify({ choices }));
      });
      const result = await run(url);
      expect([result.failure, result.outcome]).toEqual([null, 'passed']);
    },
  );

  // elie222/rakazo#416, elizaOS/eliza#30904
  it.each([0, 600])('has a character whole whose halves came in two parts of a stream, %d ms apart', async (ms) => {
    const url = await servers.http((response, body) => {
      if (isRefused(body)) return void response.writeHead(400).end('{"error":"unexpected end of hex escape"}');
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(delta({ content: 'Welcome \ud83d' }));
      setTimeout(() => response.end(delta({ content: '\ude00!' }, 'stop') + event('[DONE]')), ms);
    });
    const { outcome, timeline } = await run(url);
    const spoken = timeline.flatMap((entry) =>
      entry.type === 'speech' && entry.speaker === 'agent' ? entry.text : [],
    );
    expect([outcome, spoken]).toEqual(['passed', ['Welcome \u{1f600}!', 'Welcome \u{1f600}!']]);
  });
});

describe('the record of a call of Vapi', () => {
  const record = { id: 'c1', name: 'vat', status: 'queued', monitor: { controlUrl: 'https://a.example/c1/control' } };

  it('is kept as what can be stored, or not at all, whichever of its fields is hostile', () => {
    expect(handleOf(record)).toEqual({ id: 'c1', controlUrl: record.monitor.controlUrl });
    const json = JSON.stringify(record);
    for (const field of fieldsOf(json)) {
      for (const [, hostile] of HOSTILE_VALUES) {
        const changed: unknown = JSON.parse(withField(json, field, hostile)!);
        expect([shownField(field), unstorable(handleOf(changed))]).toEqual([shownField(field), []]);
      }
    }
  });
});
