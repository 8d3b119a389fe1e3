import { encodeMulaw, tone, writeWav } from '../../../audio/index.js';
import { speech } from '../../voice/testing/virtual-calls.js';
import type { ScriptedAgent } from '../../../../test/simulators/twilio/twilio-agent.js';
import { connect } from '../../../../test/simulators/twilio/twilio-agent.js';
import { agent, answering, call, failed, useAgents } from '../wires/twilio-media-streams/testing/voice-calls.js';

interface File {
  readonly body: Uint8Array;
  readonly type?: string;
  readonly status?: number;
  readonly location?: string;
}

/** An agent whose TwiML plays a file of its own server before the stream. */
const playing = (file: File, attributes = '', url = '/sounds/hello'): Promise<ScriptedAgent> =>
  agent({
    ...answering(),
    webhook: ({ path }, _agent, response) => {
      if (path === '/voice') return connect('/media', { before: `<Play${attributes}>${url}</Play>` });
      const { type, location } = file;
      response.writeHead(file.status ?? 200, { ...(type && { 'content-type': type }), ...(location && { location }) });
      return void response.end(file.body);
    },
  });

const wav = (rate: number, encoding: 'pcm16' | 'mulaw', channels = 1) =>
  writeWav({
    rate,
    encoding,
    channels: Array.from({ length: channels }, () => tone([440], { rate, ms: 600, dbfs: -20 })),
  });

function au(): Uint8Array {
  const header = Buffer.alloc(24);
  header.write('.snd', 'latin1');
  [24, 0xffff_ffff, 1, 8_000, 1].forEach((value, n) => header.writeUInt32BE(value, 4 + 4 * n));
  return Buffer.concat([header, encodeMulaw(speech(600))]);
}

describe('<Play> before the stream', () => {
  useAgents();

  it.each<[string, File]>([
    ['a WAV file of PCM at 8 kHz', { body: wav(8_000, 'pcm16') }],
    ['a WAV file of PCM at 44.1 kHz in stereo', { body: wav(44_100, 'pcm16', 2), type: 'audio/wav' }],
    ['a WAV file of µ-law', { body: wav(8_000, 'mulaw') }],
    ['µ-law without a header', { body: encodeMulaw(speech(600)), type: 'audio/basic' }],
    ['an AU file', { body: au() }],
  ])('is heard as speech of the agent: %s', async (_name, file) => {
    const callee = await playing(file);
    const facts = await call(`http://${callee.host}/voice`);
    const [greeting] = facts.agent;
    expect(greeting!.startMs).toBeLessThan(40);
    expect(greeting!.endMs).toBeGreaterThan(560);
    expect(greeting!.endMs).toBeLessThan(640);
    expect(facts.wireFindings).toEqual([]);
    expect(facts.caller[0]!.startMs).toBeGreaterThanOrEqual(600);
    // The connection's headers go to the agent's own server.
    expect(callee.webhooks[1]!.headers).toMatchObject({ 'x-tenant': 'bella-vista-9' });
  });

  // Files in S3 and behind a CDN; Twilio follows redirects "just like a normal web browser".
  it('is heard if it is redirected, also to another server, which gets no header of the connection', async () => {
    const other = await playing({ body: wav(8_000, 'pcm16') });
    const statuses = [301, 302, 303, 307, 308];
    const callee = await agent({
      ...answering(),
      webhook: ({ path }, _agent, response) => {
        if (path === '/voice') return connect('/media', { before: '<Play>/0</Play>' });
        const hop = Number(path.slice(1));
        const location = hop < 4 ? String(hop + 1) : `http://${other.host}/hello.wav`;
        return void response.writeHead(statuses[hop]!, { location }).end();
      },
    });
    const { wireFindings, agent: sounds } = await call(`http://${callee.host}/voice`);
    expect([wireFindings, sounds[0]!.startMs < 40]).toEqual([[], true]);
    expect(callee.webhooks.map(({ path }) => path)).toEqual(['/voice', '/0', '/1', '/2', '/3', '/4']);
    expect(other.webhooks[0]!.headers).not.toHaveProperty('x-tenant');
  });

  it('is not heard if it is redirected without end, or to a refused address', async () => {
    for (const [location, problem] of [
      ['/again', 'redirected more than 10 times'],
      ['http://10.0.0.1/x', 'address refused'],
    ] as const) {
      const callee = await playing({ body: Buffer.alloc(0), status: 302, location });
      const [finding] = (await call(`http://${callee.host}/voice`)).wireFindings;
      expect(finding!.detail).toContain(problem);
    }
  });

  it('is fetched once for each address', async () => {
    const callee = await agent({
      ...answering(),
      webhook: ({ path }, _agent, response) => {
        if (path === '/voice') return connect('/media', { before: '<Play>/hello</Play>'.repeat(20) });
        response.writeHead(200, { 'content-type': 'audio/basic' });
        return void response.end(encodeMulaw(speech(10)));
      },
    });
    const facts = await call(`http://${callee.host}/voice`);
    expect(facts.wireFindings).toEqual([]);
    expect(callee.webhooks.filter(({ path }) => path === '/hello')).toHaveLength(1);
  });

  it('ends the call if there are more than ten files', async () => {
    const files = Array.from({ length: 11 }, (_, n) => `<Play>/sounds/${n}</Play>`).join('');
    const callee = await agent({
      ...answering(),
      webhook: ({ path }, _agent, response) => {
        if (path === '/voice') return connect('/media', { before: files });
        response.writeHead(404);
        return void response.end();
      },
    });
    const { failure } = await failed(call(`http://${callee.host}/voice`));
    expect(failure).toMatchObject({ code: 'timeout' });
    expect(failure.message).toContain('plays more than 10 files');
    expect(callee.webhooks).toHaveLength(11);
  });

  it('is repeated as its attribute loop says', async () => {
    const short = await playing({ body: wav(8_000, 'pcm16') }, ' loop="2"');
    const [greeting] = (await call(`http://${short.host}/voice`)).agent;
    expect(greeting!.endMs).toBeGreaterThan(1_150);
    expect(greeting!.endMs).toBeLessThan(1_250);
  });

  it.each<[string, File, RegExp]>([
    ['an MP3 file', { body: Buffer.from('ID3\x04\x00'), type: 'audio/mpeg' }, /it is audio\/mpeg, not WAV or µ-law/],
    [
      'of a type with a secret',
      { body: Buffer.alloc(4), type: 'audio/bella-vista-9' },
      /audio\/(?!bella-vista-9).+, not/,
    ],
    ['a WAV file of a rare rate, slow to convert', { body: wav(383_999, 'pcm16') }, /383999 samples per second/],
    ['a WAV file of 24 bits', { body: wav24() }, /24 bits is not supported/],
    ['a missing file', { body: Buffer.from('gone'), status: 404 }, /it was answered with HTTP 404/],
    ['a redirect without an address', { body: Buffer.alloc(0), status: 302 }, /it was answered with HTTP 302/],
    ['a file that is too large', { body: Buffer.alloc(7 * 1024 * 1024), type: 'audio/basic' }, /larger than 6 MiB/],
  ])('that is %s is a finding, and the call goes on', async (_name, file, problem) => {
    const callee = await playing(file);
    const facts = await call(`http://${callee.host}/voice`);
    expect(facts.wireFindings).toMatchObject([{ code: 'play_not_heard', severity: 'warning', atMs: 0 }]);
    expect(facts.wireFindings[0]!.detail).toMatch(problem);
    expect(facts.wireFindings[0]!.detail).toContain('Its duration is unknown');
    expect(facts.agent).toHaveLength(1);
  });

  it('is not fetched from a refused address, and other servers get no header of the connection', async () => {
    const refused = await playing({ body: Buffer.alloc(0) }, '', 'http://10.0.0.1/hello.wav');
    const [finding] = (await call(`http://${refused.host}/voice`)).wireFindings;
    expect(finding).toMatchObject({
      code: 'play_not_heard',
      detail: expect.stringContaining('address refused') as string,
    });
    const other = await playing({ body: wav(8_000, 'pcm16') });
    const callee = await playing({ body: Buffer.alloc(0) }, '', `http://${other.host}/hello.wav`);
    expect((await call(`http://${callee.host}/voice`)).wireFindings).toEqual([]);
    expect(other.webhooks[0]!.headers).not.toHaveProperty('x-tenant');
  });

  function wav24(): Uint8Array {
    const file = wav(8_000, 'pcm16');
    new DataView(file.buffer).setUint16(34, 24, true);
    return file;
  }
});

describe('TwiML after the stream', () => {
  useAgents();

  it.each([
    ['a second stream', '<Connect><Stream url="/second"/></Connect>', '<Connect> of <Stream>'],
    ['words', '<Say>Goodbye</Say><Hangup/>', '<Say>: "Goodbye"'],
  ])('with %s is a finding that says what is not followed', async (_name, after, shown) => {
    const callee = await agent({
      onStart: ({ socket }) => setTimeout(() => socket.close(1000), 100),
      webhook: () => connect('/media', { after }),
    });
    const { wireFindings, platformEvents } = await call(`http://${callee.host}/voice`);
    expect(wireFindings).toMatchObject([
      {
        code: 'after_stream_not_followed',
        severity: 'warning',
        atMs: platformEvents[0]!.atMs,
        detail: expect.stringContaining(shown) as string,
      },
    ]);
    expect(callee.streams).toHaveLength(1);
  });
});
