import { readFileSync } from 'node:fs';
import type { OutboundClient, OutboundStream } from '../../../../outbound-http/index.js';
import { OutboundClient as Client } from '../../../../outbound-http/index.js';
import { shareOf } from '../../../../statistics/testing/sample.js';
import { chatCompletions, RealClock } from '../../../index.js';
import { call } from '../../../testing/calls.js';
import { delta, event, TestServers } from '../../../../../test/simulators/servers.js';
import type { AgentEvent } from '../../../conversation/transport.js';
import { VirtualClock } from '../../../time/virtual-clock.js';
import { Timeline } from '../../../timeline/timeline.js';
import { inPieces } from './testing/dialects.js';

const servers = new TestServers();
afterEach(() => servers.close());

const client = new Client({ allowedNetworks: ['127.0.0.0/8'] });
const HELLO = { script: [{ say: 'Hello.' }] };
const tool = (name: string, index = 0) =>
  delta({ tool_calls: [{ index, id: `c${index}`, type: 'function', function: { name, arguments: '{}' } }] });
const STOP = delta({}, 'stop') + event('[DONE]');
const BOOKED = 'Your table is booked.';
const inOrder = (first: object, then: object) => ({ type: 'in_order' as const, events: [first, then] as never });
const TOOL = { tool: 'book_table' };
const WORDS = { text: 'table is booked' };

/** A call with an agent that answers with these bytes. */
async function answeredWith(body: string, definition: object = {}, type = 'text/event-stream') {
  const url = await servers.http((response) => response.writeHead(200, { 'content-type': type }).end(body));
  return call(
    { ...HELLO, ...definition },
    { transport: chatCompletions({ client, url, assistantId: 'a' }), clock: new RealClock(), patienceMs: 50 },
  );
}

/** Words and names of tools in the order of the timeline. */
const shown = (timeline: readonly { type: string; speaker?: string; text?: string; name?: string }[]) =>
  timeline.slice(1).flatMap(({ type, text, name }) => (type === 'speech' ? text! : type === 'tool_call' ? name! : []));

describe('the order of words and tool calls', () => {
  it('a tool call that comes in one write with the words after it stands before them', async () => {
    const { timeline, outcome } = await answeredWith(tool('book_table') + delta({ content: BOOKED }) + STOP, {
      checks: [inOrder(TOOL, WORDS), { type: 'calls_tool', tool: 'book_table', before: WORDS }],
    });
    expect(shown(timeline)).toEqual(['book_table', BOOKED]);
    expect(outcome).toBe('passed');
    const wrong = await answeredWith(delta({ content: BOOKED }) + tool('book_table') + STOP, {
      checks: [inOrder(TOOL, WORDS)],
    });
    expect(wrong.outcome).toBe('failed');
  });

  it.each([0, 2, 20])('a tool call %d ms before the words stands before them', async (ms) => {
    const url = await servers.http((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(tool('book_table'));
      setTimeout(() => response.end(delta({ content: BOOKED }) + STOP), ms);
    });
    const { timeline } = await call(HELLO, {
      transport: chatCompletions({ client, url, assistantId: 'a' }),
      clock: new RealClock(),
      patienceMs: 50,
    });
    expect(shown(timeline)).toEqual(['book_table', BOOKED]);
  });

  it('words and calls in turns stay in their order, and the words go on directly (huggingface/speech-to-speech#309, mastra-ai/mastra#15934)', async () => {
    const said = ['The ta', 'ble ', ' \n', 'is yours.'].map((content) => delta({ content }));
    const { timeline, checks } = await answeredWith(
      said[0]! + tool('find') + said[1]! + tool('book', 1) + tool('sms', 2) + said[2]! + said[3]! + STOP,
      { checks: [{ type: 'says', text: 'The table is yours.' }] },
    );
    expect(shown(timeline)).toEqual(['The ta', 'find', 'ble', 'book', 'sms', ' is yours.']);
    expect(checks[0]).toMatchObject({ met: true });
  });

  it.each([
    ['one JSON object', JSON.stringify({ choices: [{ message: wordsAndCall() }] }), 'application/json'],
    [
      'one chunk',
      delta({ content: 'Well. ' }) + delta(wordsAndCall()) + delta({ content: ' Goodbye.' }) + STOP,
      'text/event-stream',
    ],
  ])('%s with words and a call has no order: checks of order are undecided', async (_what, body, type) => {
    const checks = [
      inOrder(TOOL, WORDS),
      inOrder(WORDS, TOOL),
      { type: 'says', ...WORDS, after: TOOL },
      { type: 'never_calls_tool', ...TOOL, before: WORDS },
      { type: 'calls_tool', ...TOOL },
      { type: 'says', ...WORDS },
    ];
    const result = await answeredWith(body, { checks }, type);
    expect(result.checks.map(({ met }) => met)).toEqual([null, null, null, null, true, true]);
    expect(result.checks[0]!.detail).toMatch(/Which came first is not known/);
    expect(result.timeline.find((entry) => entry.type === 'tool_call')).toMatchObject({ isBesideWords: true });
  });

  it('words before and after the chunk with both have an order', async () => {
    const body = delta({ content: 'Well. ' }) + delta(wordsAndCall()) + delta({ content: ' Goodbye.' }) + STOP;
    const checks = [inOrder({ text: 'well' }, TOOL), inOrder(TOOL, { text: 'goodbye' })];
    expect(await answeredWith(body, { checks })).toMatchObject({ outcome: 'passed' });
  });

  it('the same bytes make the same timeline, however they are cut', async () => {
    const body =
      delta({ content: 'Für wen? ' }) +
      tool('find') +
      delta({ content: '🎉 Ja' }) +
      tool('book', 1) +
      delta(wordsAndCall()) +
      STOP;
    let seed = 1;
    const random = () => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647;
    const whole = await timelineOf([Buffer.from(body)]);
    expect(shown([{ type: 'speech' }, ...whole])).toEqual(['Für wen?', 'find', ' 🎉 Ja', 'book', BOOKED, 'book_table']);
    for (let trial = 0; trial < shareOf(1_000); trial++) {
      const cuts = Array.from({ length: 1 + Math.floor(random() * 12) }, random);
      expect(await timelineOf(inPieces(body, cuts))).toEqual(whole);
    }
  });
});

function wordsAndCall(): object {
  const call = { index: 2, id: 'both', type: 'function', function: { name: 'book_table', arguments: '{}' } };
  return { role: 'assistant', content: BOOKED, tool_calls: [call] };
}

/** The timeline of one answer in these pieces, all at once. */
async function timelineOf(pieces: readonly Uint8Array[]) {
  const timeline = new Timeline();
  const clock = new VirtualClock();
  async function* body() {
    for (const piece of pieces) yield Buffer.from(piece);
  }
  const headers = { 'transfer-encoding': 'chunked' };
  const stream: OutboundStream = { status: 200, headers, body: body(), close: () => undefined };
  const open: OutboundClient['open'] = ({ onSent }) => {
    onSent?.();
    return Promise.resolve(stream);
  };
  await new Promise<void>((resolve) => {
    const emit = (event: AgentEvent) => {
      if (event.type === 'speech') timeline.agentSpeaks(event.text, 0);
      else if (event.type === 'speech_split') timeline.agentSplits();
      else if (event.type === 'tool_start') timeline.toolStarts();
      else if (event.type === 'tool_call') timeline.toolCalled(event, 0, 0);
      else if (event.type === 'speech_end') timeline.agentPaused(0);
      else if (event.type === 'turn_end') resolve();
    };
    const transport = chatCompletions({
      client: { open } as OutboundClient,
      url: 'http://agent.test/',
      assistantId: 'a',
    });
    void transport.connect({ clock, emit }).say('Hello.');
  });
  return timeline.entries;
}

describe('an answer whose stream stays open', () => {
  const open = (answer: (write: (text: string) => void) => void) =>
    servers.http((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      answer((text) => response.write(text));
    });
  const talk = (url: string, definition: object = {}) =>
    call(
      { ...HELLO, ...definition },
      {
        transport: chatCompletions({ client, url, assistantId: 'a', answerTimeoutMs: 8_000 }),
        clock: new RealClock(),
        patienceMs: 50,
      },
    );

  it('ends although heartbeats go on, which does not count as time of the call (maximhq/bifrost#6784)', async () => {
    const timers: NodeJS.Timeout[] = [];
    const url = await open((write) => {
      write(delta({ content: 'Hi.' }) + delta({}, 'stop'));
      timers.push(setInterval(() => write(': ping\n\nevent: ping\ndata: {}\n\ndata:\n\n'), 100));
    });
    const result = await talk(url, { checks: [{ type: 'max_duration_ms', ms: 900 }] });
    timers.forEach(clearInterval);
    expect(result).toMatchObject({ outcome: 'passed', timeline: [{}, { text: 'Hi.' }, {}] });
  });

  it('goes on after empty reasons, 100 ms apart (ollama/ollama#4357, sgl-project/sglang#3912)', async () => {
    const sent = readFileSync('test/fixtures/compatibility/chat-completions/finish-empty.sse', 'utf8').split('\n\n');
    const url = await open((write) => sent.forEach((one, n) => setTimeout(() => write(`${one}\n\n`), n * 100)));
    expect(shown((await talk(url)).timeline)).toEqual(['The table costs forty two euros altogether.']);
  });

  it('goes on after a reason: the steps of an agent that runs its tools itself are one answer (BerriAI/litellm#27139)', async () => {
    let requests = 0;
    const url = await open((write) => {
      requests++;
      write(delta({ content: 'Let me check. ' }) + tool('find') + delta({}, 'tool_calls'));
      setTimeout(() => write(delta({ content: BOOKED })), 1_500);
      setTimeout(() => write(STOP), 1_600);
    });
    const { timeline } = await talk(url);
    expect(shown(timeline)).toEqual(['Let me check.', 'find', ` ${BOOKED}`]);
    expect(requests).toBe(1);
  });

  it('ends with [DONE], however long the connection stays open (agentscope-ai/agentscope-java#2073)', async () => {
    const url = await open((write) => write(delta({ content: 'Hi.' }) + STOP));
    expect(await talk(url)).toMatchObject({ outcome: 'passed' });
  });
});

describe('what results say of an answer', () => {
  const warnings = (timeline: readonly { type: string }[]) => timeline.filter(({ type }) => type === 'finding');

  it.each([
    [
      'tags of thinking, which count as said (pipecat-ai/pipecat#4901)',
      delta({ content: '<think>Hm.</think>Yes.' }) + STOP,
      'thinking_said',
    ],
    ['an end without a reason and [DONE]', delta({ content: 'Yes.' }), 'end_unsaid'],
    [
      'a tool call after words that gets no result, because the reason is stop',
      delta({ content: 'One moment.' }) +
        delta({ tool_calls: [{ index: 0, id: 'a', function: { name: 'b' } }] }) +
        STOP,
      'no_tool_result',
    ],
  ])('a warning names %s', async (_what, body, code) => {
    const { timeline, outcome } = await answeredWith(body);
    expect(warnings(timeline)).toMatchObject([{ code, severity: 'warning' }]);
    expect(outcome).toBe('passed');
  });

  it('parts that repeat what came are said again, as every client shows them (QwenLM/qwen-code#3896)', async () => {
    const { timeline } = await answeredWith(['A', 'A b', 'A b c'].map((content) => delta({ content })).join('') + STOP);
    expect(shown(timeline)).toEqual(['AA bA b c']);
  });

  it('an ordinary answer has no warning', async () => {
    const { timeline } = await answeredWith(delta({ content: 'Yes.' }) + STOP);
    expect(warnings(timeline)).toEqual([]);
  });
});

it('a function_call is answered as the older protocol asks for it', async () => {
  const bodies: any[] = [];
  const url = await servers.http((response, body) => {
    bodies.push(body.messages);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    if (bodies.length > 1) return response.end(delta({ content: BOOKED }) + STOP);
    return response.end(
      delta({ function_call: { name: 'book', arguments: '{"p":4}' } }, 'function_call') + event('[DONE]'),
    );
  });
  const result = await call(
    { ...HELLO, checks: [{ type: 'calls_tool', tool: 'book', arguments: { p: 4 } }] },
    { transport: chatCompletions({ client, url, assistantId: 'a' }), clock: new RealClock(), patienceMs: 50 },
  );
  expect(result.outcome).toBe('passed');
  expect(bodies[1].slice(1)).toEqual([
    { role: 'assistant', content: null, function_call: { name: 'book', arguments: '{"p":4}' } },
    { role: 'function', name: 'book', content: '{"status":"ok"}' },
  ]);
});
