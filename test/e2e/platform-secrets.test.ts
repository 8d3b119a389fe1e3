import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ElevenLabsServer, says, server, type ServerMessage } from '../../libs/simulation/testing/elevenlabs.js';
import type { KeptCalls } from '../simulators/records/kept-calls.js';
import { RetellServer } from '../simulators/retell/server.js';
import {
  chatCalls,
  chatResult,
  chatSays,
  client as messages,
  says as vapiSays,
  VapiServer,
} from '../../libs/simulation/testing/vapi.js';
import type { HttpClient } from '../support/http.js';
import { LogLines } from '../support/log-lines.js';
import { executeRun, prepareEvaluations, shortEvaluation } from '../support/run-app.js';
import { formsOfSecret } from '../support/secret-forms.js';
import { databaseTexts, folderTexts, textsOf } from '../support/stored-words.js';
import { createTestApp, type TestApp } from '../support/test-app.js';

jest.setTimeout(120_000);

const KEY = 'sk_Of-the+Test/1234567890';
const CONTROL = 'Con+Trol/of-the_Test=12345678';
const TRANSPORT = 'Trans+Port/of-the_Test=87654321';
const SIGNATURE = 'Sig+Nature/of-the_Test=13572468';
const SECRETS = { KEY, CONTROL, TRANSPORT, SIGNATURE };
const formsOf = (...secrets: string[]): string[] => secrets.flatMap((secret) => [...formsOfSecret(secret)]);
/** What the agents say beside secrets: where it is found, a secret would be found, too. */
const WORD = 'Quetzalcoatlus';
const WELCOME = `Welcome, ${WORD}!`;
const LISTENS = [{ waitSeconds: 2 }, { end: 'Done' }];
const ASKS = [{ say: 'Hello' }, { say: 'Again' }];

interface Called {
  readonly protocol: string;
  readonly url: string;
  readonly script: readonly object[];
  readonly options?: object;
  readonly checks?: readonly object[];
}

/** Platforms that repeat all their secrets in every encoding, in their messages and in their refusals. */
class Platforms {
  private readonly doubles: (ElevenLabsServer | VapiServer | RetellServer)[] = [];

  async start(): Promise<Called[]> {
    const refusal = { status: 401, body: `Wrong: ${formsOf(KEY).join(' ')}` };
    const [socket, chat, turns, refusing, refusingRetell, refusingElevenLabs] = await Promise.all([
      this.vapi(),
      this.vapiChat(),
      this.retell(),
      VapiServer.start({ refusal }),
      RetellServer.start({ refusal: { status: 401, message: refusal.body } }),
      ElevenLabsServer.start({ refusal }),
    ]);
    this.doubles.push(refusing, refusingRetell, refusingElevenLabs);
    const [sockets, texts] = await Promise.all([
      this.elevenlabs(says(1, WELCOME, 500)),
      this.elevenlabs([server.response(WELCOME)]),
    ]);
    return [
      { protocol: 'vapi', url: socket.url, script: LISTENS },
      { protocol: 'vapi-chat', url: chat.url, script: ASKS },
      { protocol: 'retell-text', url: turns.url, script: ASKS },
      { protocol: 'elevenlabs', url: sockets.url, script: LISTENS },
      { protocol: 'elevenlabs-text', url: texts.url, script: ASKS },
      { protocol: 'vapi', url: refusing.url, script: LISTENS },
      { protocol: 'vapi-chat', url: refusing.url, script: ASKS },
      { protocol: 'retell-text', url: refusingRetell.url, script: ASKS },
      { protocol: 'elevenlabs', url: refusingElevenLabs.url, script: LISTENS },
      ...(await Promise.all([this.telephone([]), this.telephone([refusal])])),
    ];
  }

  async stop(): Promise<void> {
    for (const double of this.doubles) await double.stop();
  }

  private async keep<D extends ElevenLabsServer | VapiServer | RetellServer>(starting: Promise<D>): Promise<D> {
    const double = await starting;
    this.doubles.push(double);
    return double;
  }

  private vapi(): Promise<VapiServer> {
    const echoes = formsOf(KEY, CONTROL, TRANSPORT).flatMap((form) => [
      ...[messages.model(`${form} `, 't1'), messages.transcript('user', form), messages.spoken(form)],
      ...[messages.tools(form, form, { [form]: form }), { type: form }, `not JSON: ${form}`],
    ]);
    const script = { onStart: [{ send: [...vapiSays('t1', `${WELCOME} `, 500), ...echoes] }] };
    return this.keep(VapiServer.start({ apiKey: KEY, controlSecret: CONTROL, transportSecret: TRANSPORT, script }));
  }

  private vapiChat(): Promise<VapiServer> {
    const echoes = formsOf(KEY).flatMap((form, n) => [
      ...[chatSays(form), chatCalls(`c${n}`, form, { [form]: form }), chatResult(`c${n}`, form)],
    ]);
    const chat = [[chatSays(WELCOME), ...echoes], [chatSays(WELCOME)]];
    return this.keep(VapiServer.start({ apiKey: KEY, chat }));
  }

  private retell(): Promise<RetellServer> {
    const answer = () => ({ messages: [{ role: 'agent', content: WELCOME }, ...this.retellEchoes()] });
    return this.keep(RetellServer.start({ apiKey: KEY, answer }));
  }

  private readonly retellEchoes = () =>
    formsOf(KEY).flatMap((form, n) => [
      { role: 'agent', content: form },
      {
        role: 'tool_call_invocation',
        tool_call_id: `t${n}`,
        name: form,
        arguments: JSON.stringify({ [form]: form }),
      },
      { role: 'tool_call_result', tool_call_id: `t${n}`, content: form },
    ]);

  /** An agent of Retell behind SIP, whose record repeats the key, or is refused in this way. */
  private async telephone(refusals: KeptCalls['faults']['refusals'] & object): Promise<Called> {
    const recogniser = { recognise: () => ({ type: 'sound' as const, name: 'noise' }) };
    const voice = { today: 0, voice: { say: () => new Uint8Array(8_000) }, recogniser };
    const platform = await this.keep(RetellServer.start({ apiKey: KEY, voice: () => Promise.resolve(voice) }));
    const { telephone, kept } = platform;
    const greets = { role: 'tool_call_invocation', tool_call_id: 'greeting', name: WORD, arguments: '{}' };
    const transcript_with_tool_calls = [greets, ...this.retellEchoes()];
    telephone.faults.recordFields = { transcript_with_tool_calls };
    telephone.numbers.set('bella-vista', 'agent_01');
    kept.faults.refusals = refusals;
    return {
      ...{ protocol: 'sip', url: telephone.url.replace('sip:', 'sip:bella-vista@'), script: LISTENS },
      ...{ options: { records: `retell:${platform.url}` }, checks: [{ type: 'calls_tool', tool: 'find_table' }] },
    };
  }

  /** Its conversations are on another server, at an address with a known secret. */
  private async elevenlabs(welcome: readonly ServerMessage[]): Promise<ElevenLabsServer> {
    const echoes = formsOf(KEY, SIGNATURE).flatMap((form, n): ServerMessage[] => [
      ...[server.response(form), server.correction(form, form), server.heard(form)],
      ...[server.clientTool(`t${n}`, form, { [form]: form }), server.error(1011, 'llm_error', form), { type: form }],
    ]);
    const metadata = { ...server.metadata() };
    Object.assign(metadata['conversation_initiation_metadata_event'] as object, { conversation_id: SIGNATURE });
    const script = {
      onStart: [{ send: [metadata, ...echoes, ...welcome] }],
      onTurn: ASKS.map(() => [{ send: [server.response(WELCOME)] }]),
    };
    const conversations = await this.keep(ElevenLabsServer.start({ script }));
    conversations.accept(SIGNATURE);
    const query = `conversation_signature=${encodeURIComponent(SIGNATURE)}`;
    const signedUrl = `${conversations.url.replace('http', 'ws')}/v1/convai/conversation?${query}`;
    return this.keep(ElevenLabsServer.start({ apiKey: KEY, signedUrl }));
  }
}

describe('the secrets of calls of platforms', () => {
  const platforms = new Platforms();
  const log = new LogLines();
  let dataDir: string;
  let app: TestApp;
  let found: Record<string, string[]>;

  /** Calls an agent, and reads all that the service says about it. */
  async function call({ protocol, url, script, options = {}, checks }: Called): Promise<string[]> {
    const evaluation = shortEvaluation({ script, ...(checks && { checks }) });
    const values = { apiKey: KEY, assistantId: 'agent_01' };
    const { client, agentId } = await prepareEvaluations(app, [evaluation], values);
    expect(await client.put(`/agents/${agentId}/connection`, { protocol, url, options })).toMatchObject({
      status: 200,
    });
    const test = await client.post(`/agents/${agentId}/connection/test`);
    expect(test).toMatchObject({ status: 200 });
    const run = await executeRun(client, agentId);
    const [{ id }] = (await client.get(`/runs/${run.id}/calls`)).body.data;
    const paths = [`/runs/${run.id}`, `/calls/${id}`, `/calls/${id}/wire`, `/runs/${run.id}/report`];
    const pages = await Promise.all([...paths, `/runs/${run.id}/junit`].map((one) => textOf(client, one)));
    return textsOf([test.body, pages]);
  }

  const textOf = async (client: HttpClient, at: string): Promise<string> => {
    const { body } = await client.get<unknown>(at);
    return typeof body === 'string' ? body : JSON.stringify(body);
  };

  beforeAll(async () => {
    dataDir = await mkdtemp(path.join(tmpdir(), 'platform-secrets-'));
    app = await createTestApp({ env: { DATA_DIR: dataDir, OUTBOUND_ALLOWED_NETWORKS: '127.0.0.0/8' }, log });
    const all = await platforms.start();
    const answers = await Promise.all(all.map((called) => call(called)));
    found = {
      ...Object.fromEntries(all.map(({ protocol }, n) => [`${protocol} ${n + 1}`, answers[n]!])),
      database: await databaseTexts(app.databaseUrl),
      disk: await folderTexts(dataDir),
      log: textsOf(log.text),
    };
  });
  afterAll(async () => {
    await app.close();
    await platforms.stop();
    await rm(dataDir, { recursive: true, force: true });
  });

  it.each(Object.entries(SECRETS))('%s is in no answer, row, file or log in any of sixteen encodings', (_, secret) => {
    const forms = formsOfSecret(secret);
    const leaks = Object.entries(found).flatMap(([where, texts]) =>
      forms.filter((form) => texts.some((text) => text.includes(form))).map((form) => `${where}: ${form}`),
    );
    expect(leaks).toEqual([]);
  });

  it('would be found there, as the words of the agents are', () => {
    const places = Object.entries(found).filter(([, texts]) => texts.some((text) => text.includes(WORD)));
    expect(places.map(([where]) => where)).toEqual([
      ...['vapi 1', 'vapi-chat 2', 'retell-text 3', 'elevenlabs 4', 'elevenlabs-text 5', 'sip 10', 'database', 'disk'],
    ]);
    expect(found['log']!.length).toBeGreaterThan(10);
  });
});
