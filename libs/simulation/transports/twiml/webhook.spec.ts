import type { ServerResponse } from 'node:http';
import type { VoiceFacts } from '../../voice/facts/facts.js';
import { planOf, speech } from '../../voice/testing/virtual-calls.js';
import { twilioSignature } from './signature.js';
import { type AgentScript, connect } from '../../../../test/simulators/twilio/twilio-agent.js';
import { silence, toMulaw } from '../../testing/telephone-sounds.js';
import {
  agent,
  answering,
  AUTH_TOKEN,
  call,
  failed,
  SCRIPT,
  useAgents,
} from '../wires/twilio-media-streams/testing/voice-calls.js';

const hangingUp: AgentScript = { onStart: ({ socket }) => socket.close(1000) };

describe('twilioMediaStreams over a webhook', () => {
  useAgents();

  it('sends a signed form and connects the stream of the TwiML', async () => {
    const callee = await agent({
      ...answering(),
      webhook: (_request, { host }) =>
        connect(`wss://${host}/media`, { inside: '<Parameter name="table" value="4 &amp; 5"/>' }),
    });
    const url = `http://${callee.host}/voice?tenant=7`;
    const accountSid = `AC${'0'.repeat(32)}`;
    const facts = await call(url, {
      endpoint: { options: { from: '+12025550111', accountSid, parameters: { CallerName: 'Ada' } } },
    });
    expect(facts.agent).toHaveLength(1);
    const [webhook] = callee.webhooks;
    expect(webhook!.form).toEqual({
      CallSid: expect.stringMatching(/^CA[0-9a-f]{32}$/) as string,
      AccountSid: accountSid,
      From: '+12025550111',
      To: '+12025550199',
      Caller: '+12025550111',
      Called: '+12025550199',
      CallStatus: 'ringing',
      Direction: 'inbound',
      ApiVersion: '2010-04-01',
      CallerName: 'Ada',
    });
    expect(webhook!.headers['x-twilio-signature']).toBe(twilioSignature(AUTH_TOKEN, url, webhook!.form));
    expect(webhook!.headers['x-tenant']).toBe('bella-vista-9');
    const [stream] = callee.streams;
    // Signed as written, dialled without TLS like the webhook.
    expect(stream!.headers['x-twilio-signature']).toBe(twilioSignature(AUTH_TOKEN, `wss://${callee.host}/media`));
    expect(stream!.headers['x-call-id']).toBe(webhook!.headers['x-call-id']);
    expect(stream!.messages[1]!.start).toMatchObject({
      accountSid,
      callSid: webhook!.form.CallSid,
      customParameters: { table: '4 & 5' },
    });
    expect(facts.platformEvents).toEqual([]);
    expect(facts.wireFindings).toEqual([]);
  });

  // vocode-core#327, llm_convo#7: numbers whose webhook is set to GET.
  it('calls a webhook with GET if the connection says so', async () => {
    const callee = await agent({ ...hangingUp, webhook: () => connect('/media') });
    await call(`http://${callee.host}/voice?tenant=7`, { endpoint: { options: { method: 'GET' } } });
    const [webhook] = callee.webhooks;
    expect(webhook).toMatchObject({ method: 'GET', form: {} });
    expect(webhook!.path).toMatch(/^\/voice\?tenant=7&CallSid=CA/);
    const signed = twilioSignature(AUTH_TOKEN, `http://${callee.host}${webhook!.path}`);
    expect(webhook!.headers['x-twilio-signature']).toBe(signed);
  });

  it('names the number of the option `to` before that of the evaluation', async () => {
    const callee = await agent({ ...answering(), webhook: () => connect('/media') });
    await call(`http://${callee.host}/voice`, { endpoint: { options: { to: '+12025550123' } } });
    expect(callee.webhooks[0]!.form).toMatchObject({ To: '+12025550123', Called: '+12025550123' });
  });

  it('dials its own address when the TwiML names the public one, and signs the public one', async () => {
    const publicUrl = 'https://agent.example.com/voice';
    const callee = await agent({
      ...answering(),
      webhook: () => connect('wss://agent.example.com/media'),
    });
    await call(`http://${callee.host}/voice`, { endpoint: { options: { publicUrl } } });
    const [webhook] = callee.webhooks;
    expect(webhook!.headers['x-twilio-signature']).toBe(twilioSignature(AUTH_TOKEN, publicUrl, webhook!.form));
    expect(callee.streams[0]!.path).toBe('/media');
    expect(callee.streams[0]!.headers['x-twilio-signature']).toBe(
      twilioSignature(AUTH_TOKEN, 'wss://agent.example.com/media'),
    );
  });

  it('follows redirects and relative addresses, and waits as long as the verbs before the stream take', async () => {
    const callee = await agent({
      ...answering(),
      webhook: ({ path }) =>
        path === '/a/voice'
          ? '<Response><Pause length="1"/><Redirect method="GET">../b/next?x=1</Redirect></Response>'
          : connect('/media', { before: '<Say>One moment</Say>' }),
    });
    const facts = await call(`http://${callee.host}/a/voice`);
    const [, second] = callee.webhooks;
    expect(second).toMatchObject({ method: 'GET', form: {} });
    expect(second!.path).toMatch(/^\/b\/next\?x=1&CallSid=CA/);
    expect(second!.headers['x-twilio-signature']).toBe(
      twilioSignature(AUTH_TOKEN, `http://${callee.host}${second!.path}`),
    );
    expect(facts.platformEvents.map(({ atMs, detail }) => [atMs, detail])).toEqual([
      [0, '<Pause> of 1 s'],
      [1_000, '<Say>: "One moment"'],
    ]);
    // The call began with the answer, 1.8 s before the stream.
    expect(facts.caller[0]!.startMs).toBeGreaterThanOrEqual(1_800);
    expect(callee.streams[0]!.messages.filter(({ event }) => event === 'media')[0]!.media.timestamp).toBe('0');
  });

  it('ends a call whose verbs take longer than it may last when its time is over', async () => {
    const callee = await agent({
      ...answering(),
      webhook: () => connect('/media', { before: '<Pause length="50"/>' }),
    });
    const { end } = await call(`http://${callee.host}/voice`, { plan: planOf(SCRIPT, { maxDurationSeconds: 1 }) });
    expect(end.code).toBe('max_duration');
    // Far from the 50 s of the pause, on a slow machine as well.
    expect(end.atMs).toBeLessThan(25_000);
  });

  it('plays what the platform says before the stream as speech of the agent, and pauses between', async () => {
    const callee = await agent({
      ...answering(),
      webhook: () => connect('/media', { before: '<Say loop="2">One moment</Say><Pause length="1"/>' }),
    });
    const spoken: string[] = [];
    const facts = await call(`http://${callee.host}/voice`, {
      speak: (text) => {
        spoken.push(text);
        return Promise.resolve(speech(600));
      },
    });
    expect(spoken).toEqual(['One moment']);
    const [greeting] = facts.agent;
    expect(greeting!.startMs).toBeLessThan(20);
    expect(greeting!.endMs).toBeGreaterThan(1_150);
    expect(greeting!.endMs).toBeLessThan(1_250);
    expect(facts.caller[0]!.startMs).toBeGreaterThanOrEqual(2_200);
  });

  it('waits for the estimated time of what no voice can speak before the stream', async () => {
    const callee = await agent({
      ...answering(),
      webhook: () => connect('/media', { before: '<Say>お待ち ください</Say>' }),
    });
    const facts = await call(`http://${callee.host}/voice`, {
      speak: () => Promise.reject(Object.assign(new Error('it cannot be spoken'), { isPermanent: true })),
    });
    expect(facts.platformEvents.map(({ detail }) => detail)).toEqual(['<Say>: "お待ち ください"']);
    expect(facts.caller[0]!.startMs).toBeGreaterThanOrEqual(800);
  });

  it("sends the connection's headers to no other server that its documents name, neither for TwiML nor for the stream", async () => {
    const other = await agent({
      onStart: ({ socket }) => setTimeout(() => socket.close(1000), 100),
      webhook: ({ path }, { host }) =>
        path === '/after' ? '<Response/>' : connect(`ws://${host}/media`, { attributes: ' action="/after"' }),
    });
    const callee = await agent({
      ...answering(),
      webhook: () => `<Response><Redirect>http://${other.host}/voice</Redirect></Response>`,
    });
    await call(`http://${callee.host}/voice`);
    expect(callee.webhooks.map(({ headers }) => headers['x-tenant'])).toEqual(['bella-vista-9']);
    const elsewhere = [...other.webhooks, ...other.streams];
    expect(elsewhere.map(({ path }) => path)).toEqual(['/voice', '/after', '/media']);
    for (const { headers } of elsewhere) {
      expect(headers).not.toHaveProperty('x-tenant');
      expect(headers).toMatchObject({ 'x-call-id': callee.webhooks[0]!.headers['x-call-id'] });
    }
  });

  it('finds a query and a missing TLS in the address of the stream', async () => {
    const callee = await agent({
      ...answering(),
      webhook: (_request, { host }) => connect(`ws://${host}/media?id=5`),
    });
    const facts = await call(`http://${callee.host}/voice`);
    expect(facts.wireFindings.map(({ code, severity, atMs }) => [code, severity, atMs])).toEqual([
      ['query_in_stream_url', 'error', null],
      ['insecure_stream_url', 'warning', null],
    ]);
  });

  // home-assistant/core#66561, twilio/voice-quickstart-server-node#10, twilio/voice-quickstart-ios#165, AGWA/sms-over-xmpp#23.
  it.each([
    ['application/octet-stream', 'as application/octet-stream'],
    ['application/json', 'as application/json'],
    [undefined, 'without Content-Type'],
    ['text/plain; charset=utf-8', 'as text/plain; charset=utf-8'],
  ])(
    'finds TwiML that is sent with the Content-Type %s, which Twilio does not execute (12300)',
    async (type, shown) => {
      const callee = await agent({
        ...hangingUp,
        webhook: (_request, _agent, response) =>
          void response.writeHead(200, type === undefined ? {} : { 'content-type': type }).end(connect('/media')),
      });
      const { wireFindings } = await call(`http://${callee.host}/voice`);
      expect(wireFindings).toMatchObject([{ code: 'wrong_content_type', severity: 'error' }]);
      expect(wireFindings[0]!.detail).toContain(shown);
      expect(wireFindings[0]!.source).toContain('12300');
    },
  );

  // "text/xml, application/xml, text/html: Twilio interprets the returned document as an XML Instruction Set".
  it('takes TwiML with each Content-Type that Twilio executes', async () => {
    const types = [
      'text/xml',
      'TEXT/XML;charset=utf-8',
      'application/xml',
      'text/html; charset=UTF-8',
      'application/xhtml+xml',
    ];
    const callee = await agent({
      ...hangingUp,
      webhook: ({ path }, _agent, response) => {
        const next = Number(path.slice(2)) + 1;
        const more = types[next] === undefined ? '' : `<Redirect>/?${next}</Redirect>`;
        response.writeHead(200, { 'content-type': types[next - 1] });
        response.end(connect('/media', { before: more }));
      },
    });
    expect((await call(`http://${callee.host}/?0`)).wireFindings).toEqual([]);
    expect(callee.webhooks).toHaveLength(types.length);
  });

  // signalwire/docs-legacy#633.
  it.each(['both_tracks', 'outbound_track'])(
    'finds track="%s" of <Connect><Stream>, which Twilio refuses (31941)',
    async (track) => {
      const twiml = (value: string) =>
        `<Response><Connect><Stream url="/media" track="${value}"/></Connect></Response>`;
      const callee = await agent({ ...hangingUp, webhook: () => twiml(track) });
      const { wireFindings } = await call(`http://${callee.host}/voice`);
      expect(wireFindings).toMatchObject([{ code: 'wrong_track', severity: 'error' }]);
      expect(wireFindings[0]!.detail).toContain(track);
      expect(wireFindings[0]!.source).toContain('31941');
      const right = await agent({ ...hangingUp, webhook: () => twiml('inbound_track') });
      expect((await call(`http://${right.host}/voice`)).wireFindings).toEqual([]);
    },
  );

  it.each([
    ['requests the action', ' action="/after"', '', ['/voice', '/after']],
    ['goes on in the document', '', '<Dial><Number>+12025550177</Number></Dial>', ['/voice']],
  ])('%s after the agent has closed the stream', async (_name, attributes, after, paths) => {
    const callee = await agent({
      onStart: ({ socket }) => setTimeout(() => socket.close(1000), 100),
      webhook: ({ path }) =>
        path === '/after' ? '<Response><Dial>+12025550177</Dial></Response>' : connect('/media', { attributes, after }),
    });
    const facts = await call(`http://${callee.host}/voice`);
    expect(callee.webhooks.map(({ path }) => path)).toEqual(paths);
    expect(facts.platformEvents).toEqual([{ type: 'transfer', atMs: facts.end.atMs, detail: '+12025550177' }]);
    const last = callee.webhooks.at(-1)!;
    const signed = twilioSignature(AUTH_TOKEN, `http://${callee.host}${last.path}`, last.form);
    expect(last.headers['x-twilio-signature']).toBe(signed);
  });

  // dograh-hq/dograh#627: after its goodbye the caller sits on a silent line.
  it('lasts as long as the verbs after the stream, and ends by the platform', async () => {
    const callee = await agent({ ...hangingUp, webhook: () => connect('/media', { after: '<Pause length="40"/>' }) });
    const { end, platformEvents, wireFindings } = await call(`http://${callee.host}/voice`);
    expect(end).toMatchObject({ by: 'tester', code: 'platform_hung_up' });
    expect(platformEvents.map(({ type }) => type)).toEqual(['note', 'hang_up']);
    expect(end.atMs - platformEvents[0]!.atMs).toBe(40_000);
    expect(wireFindings).toEqual([]);
  });

  // openclaw/openclaw#65601: agents of Node that end with ws.terminate().
  it('follows the TwiML after a connection that broke off when the agent had been heard', async () => {
    const callee = await agent({
      onStart: (stream) => {
        stream.play(toMulaw(speech(300)));
        setTimeout(() => stream.socket.terminate(), 600);
      },
      webhook: () => connect('/media', { after: '<Dial>+12025550177</Dial>' }),
    });
    const { end, failure, platformEvents, wireFindings } = await call(`http://${callee.host}/voice`);
    expect([end.code, failure]).toEqual(['connection_closed', undefined]);
    expect(platformEvents).toMatchObject([{ type: 'transfer' }]);
    expect(wireFindings).toMatchObject([{ code: 'closed_abnormally', severity: 'warning' }]);
  });

  it('notes a hang-up when nothing follows, and an action that fails', async () => {
    const script = (attributes: string): AgentScript => ({
      onStart: ({ socket }) => setTimeout(() => socket.close(1000), 100),
      webhook: ({ path }, _agent, response) => {
        if (path !== '/after') return connect('/media', { attributes });
        return void response.writeHead(404).end('gone');
      },
    });
    const plain = await agent(script(''));
    expect((await call(`http://${plain.host}/voice`)).platformEvents).toMatchObject([{ type: 'hang_up' }]);
    const broken = await agent(script(' action="/after"'));
    expect((await call(`http://${broken.host}/voice`)).platformEvents).toMatchObject([
      { type: 'note', detail: expect.stringContaining('HTTP 404') as string },
    ]);
  });

  it.each<[string, string | ((response: ServerResponse) => void), string, RegExp]>([
    ['a web page', '<html><body>Hi</body></html>', 'invalid_twiml', /root is not <Response>/],
    ['no XML', 'Hello', 'invalid_twiml', /it said "Hello"/],
    ['nothing', '', 'invalid_twiml', /TwiML/],
    ['broken XML', '<Response><Say></Response>', 'invalid_twiml', /line 1/],
    [
      'entities',
      '<!DOCTYPE r [<!ENTITY a "x">]><Response>&a;</Response>',
      'invalid_twiml',
      /document type declaration/,
    ],
    ['deep nesting', `<Response>${'<a>'.repeat(500)}${'</a>'.repeat(500)}</Response>`, 'invalid_twiml', /nested/],
    ['too many verbs', `<Response>${'<Pause/>'.repeat(201)}</Response>`, 'invalid_twiml', /more than 200 verbs/],
    ['too much', `<Response>${'<Say>x</Say>'.repeat(6_000)}</Response>`, 'answer_too_large', /64 KiB/],
    ['a hang-up', '<Response><Hangup/></Response>', 'invalid_twiml', /hangs up/],
    ['a rejection', '<Response><Reject/></Response>', 'invalid_twiml', /rejects the call/],
    ['a transfer', '<Response><Dial>+1202</Dial></Response>', 'invalid_twiml', /transfers the call .* to \+1202/],
    ['an empty document', '<Response/>', 'invalid_twiml', /no <Connect><Stream>/],
    [
      'a one-way stream',
      '<Response><Start><Stream url="wss://x/y"/></Start><Pause length="0"/></Response>',
      'invalid_twiml',
      /<Start><Stream>, which is one-way/,
    ],
    [
      'another noun',
      '<Response><Connect><ConversationRelay url="wss://x/y"/></Connect></Response>',
      'invalid_twiml',
      /connects <ConversationRelay>/,
    ],
    ['a stream with a fragment', connect('wss://example.com/media#top'), 'invalid_twiml', /<Stream> has a fragment/],
    [
      'a stream with a password',
      connect('wss://ada:1815@example.com/media'),
      'invalid_twiml',
      /<Stream> has a user name/,
    ],
    ['an https stream', connect('https://example.com/media'), 'invalid_twiml', /not a wss address/],
    ['a stream without url', '<Response><Connect><Stream/></Connect></Response>', 'invalid_twiml', /has no url/],
    ['itself again', '<Response><Redirect>/voice</Redirect></Response>', 'timeout', /redirects more than 10 times/],
    ['a redirect to a file', '<Response><Redirect>file:///etc/passwd</Redirect></Response>', 'invalid_twiml', /http/],
    ['a stream in a private network', connect('wss://10.0.0.1/media'), 'address_refused', /OUTBOUND/],
    ['HTTP 403', (response) => void response.writeHead(403).end('wrong signature'), 'http_refused', /wrong signature/],
    ['a redirect', (response) => void response.writeHead(307, { location: '/x' }).end(), 'redirect', /another path/],
  ])('fails if the webhook answers with %s', async (_name, answer, code, message) => {
    const callee = await agent({
      webhook: (_request, _agent, response) => {
        return typeof answer === 'string' ? answer : answer(response);
      },
    });
    const { failure } = await failed(call(`http://${callee.host}/voice`));
    expect(failure).toMatchObject({ code, message: expect.stringMatching(message) as string });
    expect(callee.streams).toEqual([]);
  });

  it('plays a stream that the agent fills at once, and clears it', async () => {
    const callee = await agent({
      webhook: () => connect('/media'),
      onStart: (stream) => {
        stream.play(silence(200));
        stream.play(toMulaw(speech(5_000)));
        stream.send({ event: 'mark', mark: { name: 'all' } });
        setTimeout(() => stream.send({ event: 'clear' }), 1_000);
      },
    });
    const facts = await call(`http://${callee.host}/voice`, {
      plan: planOf(SCRIPT, { turnEndMs: 200, patienceMs: 500 }),
    });
    expect(facts.clears).toHaveLength(1);
    expect(facts.agent).toHaveLength(1);
    const [{ startMs, endMs }] = facts.agent as [VoiceFacts['agent'][number]];
    expect(startMs).toBeLessThan(600);
    expect(endMs - startMs).toBeLessThan(1_500);
    expect(callee.streams[0]!.messages.find(({ event }) => event === 'mark')?.mark.name).toBe('all');
  });
});
