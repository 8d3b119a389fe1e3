import type { VoiceFacts } from '../../voice/facts/facts.js';
import { type PlatformSounds, TwimlWalk } from './twiml-walk.js';
import { parseTwiml } from './twiml.js';

const BASE = 'https://agent.example/voice';
const STREAM = '<Connect><Stream url="wss://agent.example/media"/></Connect>';
const CLOSED = { by: 'agent', code: 'agent_hung_up', reason: 'The agent hung up', atMs: 8_000 } as const;

const read = (verbs: string) => parseTwiml(Buffer.from(`<Response>${verbs}</Response>`));

/** Walks through documents, of which further ones have paths. */
function walkOf(
  document: string,
  further: Readonly<Record<string, string>> = {},
  files: PlatformSounds['fetch'] = noFile,
) {
  const walk = new TwimlWalk((text) => text);
  const requested: string[] = [];
  const fetch = (reference: string, base: string, method: string) => {
    const { pathname } = new URL(reference, base);
    requested.push(`${method} ${pathname}`);
    return Promise.resolve(read(further[pathname] ?? ''));
  };
  const toStream = () => walk.toStream(read(document), BASE, fetch, { fetch: files });
  const afterStream = async (end: VoiceFacts['end'] = CLOSED, maxMs = 300_000) => {
    await toStream();
    walk.events.length = 0;
    return walk.afterStream(end, maxMs, fetch, { fetch: files });
  };
  const details = () => walk.events.map(({ atMs, detail }) => [atMs, detail]);
  return { walk, requested, toStream, afterStream, details, codes: () => walk.findings.map(({ code }) => code) };
}

const noFile: PlatformSounds['fetch'] = () => Promise.reject(new Error('A file was fetched.'));

describe('TwiML before the stream', () => {
  // vellum-ai/vellum-assistant#33576 and Twilio's page of <Gather>: "pause for up to five seconds".
  it('waits in <Gather> for keys when its words have been said, then goes on', async () => {
    const { walk, toStream, details } = walkOf(
      `<Gather action="/keys"><Say>Press one or two now</Say></Gather>${STREAM}`,
    );
    await toStream();
    expect(walk.elapsedMs).toBe(5 * 400 + 5_000);
    expect(details()).toEqual([
      [0, '<Gather>: the caller presses no key within 5 s'],
      [0, '<Say>: "Press one or two now"'],
    ]);
  });

  it('waits as long as <Gather timeout> says, and requests its action without keys only if it asks for that', async () => {
    const again = walkOf('<Gather timeout="3" actionOnEmptyResult="true" action="/none" method="GET"/><Hangup/>', {
      '/none': STREAM,
    });
    await again.toStream();
    expect([again.requested, again.walk.elapsedMs]).toEqual([['GET /none'], 3_000]);
    const itself = walkOf(`<Gather actionOnEmptyResult="true"/>`, { '/voice': STREAM });
    await itself.toStream();
    expect(itself.requested).toEqual(['POST /voice']);
  });

  // qisoft/i-hate-making-calls#18, and Twilio's page of <Play>.
  it('plays the keys of <Play digits> and fetches nothing', async () => {
    const { walk, toStream, details, codes } = walkOf(`<Play digits="1ww2"/>${STREAM}`);
    await toStream();
    expect([walk.elapsedMs, codes()]).toEqual([1_500, []]);
    expect(details()).toEqual([[0, '<Play> of the keys 1ww2']]);
  });

  it('fetches nothing for <Play> without an address', async () => {
    const { toStream, codes } = walkOf(`<Play/>${STREAM}`);
    await toStream();
    expect(codes()).toEqual(['play_not_heard']);
  });

  it('notes that <Stream statusCallback> is not called', async () => {
    const stream = STREAM.replace('/media"', '/media" statusCallback="https://agent.example/status"');
    const { toStream, details } = walkOf(stream);
    await toStream();
    expect(details()).toEqual([[0, '<Stream statusCallback>: https://agent.example/status, which is not called']]);
  });
});

describe('TwiML after the stream', () => {
  // dograh-hq/dograh#627 and #704, pipecat-ai/pipecat#5135.
  it('keeps the call open for the time of a <Pause>, and then the platform ends it', async () => {
    const { afterStream, details, codes } = walkOf(`${STREAM}<Pause length="40"/>`);
    expect(await afterStream()).toEqual({
      by: 'tester',
      code: 'platform_hung_up',
      reason: 'The agent closed the stream; its TwiML kept the call open for 40.0 s (<Pause> of 40 s) and ended',
      atMs: 48_000,
    });
    expect(details()).toEqual([
      [8_000, '<Pause> of 40 s'],
      [48_000, 'The TwiML ended'],
    ]);
    expect(codes()).toEqual([]);
  });

  it.each([
    ['nothing', '', 8_000],
    ['<Hangup>', '<Hangup/><Pause length="40"/>', 8_000],
    ['<Pause> and <Hangup>', '<Pause length="3"/><Hangup/>', 11_000],
    ['words', '<Say>Thank you for calling</Say>', 9_600],
  ])('with %s is the end of the call by the agent', async (_name, verbs, atMs) => {
    expect(await walkOf(`${STREAM}${verbs}`).afterStream()).toEqual({ ...CLOSED, atMs });
  });

  it('says that the caller does not hear what is said, and takes its time', async () => {
    const { afterStream, codes } = walkOf(`${STREAM}<Say>Goodbye</Say><Gather><Say>Anything else</Say></Gather>`);
    expect(await afterStream()).toMatchObject({ code: 'platform_hung_up', atMs: 8_000 + 400 + 800 + 5_000 });
    expect(codes()).toEqual(['after_stream_not_followed']);
  });

  it('follows <Connect action> and <Redirect> from where the call is', async () => {
    const action = STREAM.replace('<Connect>', '<Connect action="/after">');
    const { afterStream, requested, details } = walkOf(`${action}<Pause length="40"/>`, {
      '/after': '<Pause length="2"/><Redirect method="GET">/next</Redirect>',
      '/next': '<Dial>+12025550177</Dial>',
    });
    expect(await afterStream()).toEqual({ ...CLOSED, atMs: 10_000 });
    expect(requested).toEqual(['POST /after', 'GET /next']);
    expect(details()).toEqual([
      [8_000, '<Pause> of 2 s'],
      [10_000, '+12025550177'],
    ]);
  });

  it.each([
    // twilio/twilio-agent-connect-python#67: a hand-over to the queue of a contact centre, whose text is the task.
    ['<Enqueue workflowSid="WW0123"><Task>{"handoffData":"a human"}</Task></Enqueue>', 'WW0123'],
    ['<Enqueue>support</Enqueue>', 'support'],
    // Twilio's page of <Refer>: a transfer by SIP REFER.
    ['<Refer><Sip>sip:alice@example.com</Sip></Refer>', 'sip:alice@example.com'],
    // twilio/twilio-python#210: all ring at the same time.
    ['<Dial><Number>415-123-4567</Number><Number>415-123-4568</Number></Dial>', '415-123-4567, 415-123-4568'],
    ['<Dial timeout="20"><Client><Identity>anna</Identity></Client></Dial>', 'anna'],
    // dograh-hq/pipecat#27
    ['<Say>Connecting you now.</Say><Dial><Conference>transfer-CA1</Conference></Dial>', 'transfer-CA1'],
  ])('passes the call on with %s', async (verbs, target) => {
    const { walk, afterStream } = walkOf(`${STREAM}${verbs}<Pause length="40"/>`);
    await afterStream();
    expect(walk.events.at(-1)).toMatchObject({ type: 'transfer', detail: target });
  });

  // twilio/voice-quickstart-android#437
  it('passes no call on with a <Dial> that has no number', async () => {
    const { walk, afterStream } = walkOf(`${STREAM}<Dial callerId="+12025550177"><Number/></Dial>`);
    await afterStream();
    expect(walk.events.map(({ type }) => type)).toEqual(['note', 'hang_up']);
  });

  it('ends with the longest duration of the call, also if it would go on without end', async () => {
    const { afterStream, requested } = walkOf(`${STREAM}<Redirect>/again</Redirect>`, {
      '/again': '<Pause length="10"/><Redirect>/again</Redirect>',
    });
    expect(await afterStream(CLOSED, 30_000)).toMatchObject({ by: 'tester', code: 'max_duration', atMs: 30_000 });
    expect(requested).toHaveLength(3);
  });

  it('leaves it undecided whether the agent hung up', async () => {
    const lost = { ...CLOSED, code: 'connection_closed', reason: 'The connection was closed with code 1011' } as const;
    expect(await walkOf(`${STREAM}<Hangup/>`).afterStream(lost)).toEqual(lost);
    expect(await walkOf(`${STREAM}<Pause/>`).afterStream(lost)).toEqual({ ...lost, atMs: 9_000 });
  });
});
