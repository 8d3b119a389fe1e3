import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { type AnswerStamp, startReferenceAgent } from '../simulators/agent/index.js';
import {
  heardAgent,
  type PreparedVoice,
  scriptedAgent,
  STILL_THERE,
  TODAY,
} from '../simulators/agent/testing/voice.js';
import { type Asked, type Reply, stubModel, verdict } from '../simulators/model/llm-stub.js';
import { sendCompletion, TestServers } from '../simulators/servers.js';
import { FliteEngine, type SpeechEngine } from '../../libs/speech/index.js';
import { listeningServer } from '../simulators/transcription/transcription-double.js';

/** Kinds of calls. A caller's number is in its scenario, and with it the words of its lines. */
export const KINDS = {
  healthy: { what: 'answers after 700 ms', thinkMs: 800, agent: { responseMs: 700 } },
  prompting: {
    what: 'answers after 700 ms, asks after 3 s of silence; its caller thinks for 4.5 s',
    thinkMs: 4_500,
    agent: { responseMs: 700, asks: { afterMs: 3_000 } },
  },
  late: {
    what: 'does not answer the first line, asks after 9 s of silence',
    thinkMs: 800,
    agent: { responseMs: 700, asks: { afterMs: 9_000, instead: true } },
  },
} as const;
export type Kind = keyof typeof KINDS;

/** How the agents are called. Over Twilio only their sound is known, and a transcription server hears their words. */
export const LINES = {
  realtime: { platform: 'OpenAI Realtime', protocol: 'openai-realtime' },
  telephone: { platform: 'Twilio', protocol: 'twilio-media-streams' },
} as const;
export type Line = keyof typeof LINES;

/** The agents know by then that the caller has finished, so that they answer in time. */
const TURN_END_MS = 500;
/** What the agents say in their turns. */
const ANSWERS = [
  'We have sea bass today, and it is fresh. What else would you like to know?',
  'It comes with potatoes and a green salad. Is there anything else?',
  'We are open until eleven in the evening. Would you like to know more?',
  'You are welcome, and thank you for your call. Goodbye.',
  'Goodbye, and have a pleasant evening.',
] as const;
export const LAST_ANSWER = ANSWERS[ANSWERS.length - 1]!;
/** What the callers say in theirs, after their number. */
const QUESTIONS = [
  'Which fish do you have today?',
  'And what do you serve with that?',
  'Until when are you open?',
  'How do I get to you by bus?',
  'Is there a table on the terrace?',
  'Do you have a high chair for a child?',
];
/** Of processes that must not take the processor from the tester. */
const NICE = '10';

export const scenarioOf = (kind: Kind, caller: number): string => `You are caller ${caller}, of the kind ${kind}.`;

interface Double<T> {
  readonly started: T;
  readonly messages: unknown[];
  close(): Promise<void>;
}

/** Starts agents, model or transcription server in a process of their own. */
async function start<T>(role: keyof typeof SERVERS, ...rest: readonly string[]): Promise<Double<T>> {
  const node = [process.execPath, ...process.execArgv, fileURLToPath(import.meta.url), role, ...rest];
  const child = spawn('nice', ['-n', NICE, ...node], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const messages: unknown[] = [];
  const exit = once(child, 'exit');
  const [started] = (await Promise.race([
    once(child, 'message'),
    exit.then(() => Promise.reject(new Error(`The process of the ${role} has ended`))),
  ])) as [T];
  child.on('message', (message) => messages.push(message));
  return {
    started,
    messages,
    close: async () => {
      child.disconnect();
      await exit;
    },
  };
}

/** An agent's own time from the end of a caller's line to its answer. */
interface OwnDelay {
  readonly caller: number;
  readonly delayMs: number;
}

/** Agents, one for each caller. @param kinds of the callers */
export async function startAgents(line: Line, kinds: readonly Kind[]) {
  const { started, messages, close } = await start<readonly string[]>('agents', line, ...kinds);
  const delays = messages as readonly OwnDelay[];
  return {
    urls: started,
    /** The agent's own times of its answers to a caller, in order. */
    delaysOf: (caller: number) => delays.filter((one) => one.caller === caller).map(({ delayMs }) => delayMs),
    close,
  };
}

/** A server that plays all callers and judges. */
export const startModel = () => startServer('model');

/** A transcription server that really listens, and knows the voice of the agents. */
export const startTranscription = () => startServer('transcription');

async function startServer(role: 'model' | 'transcription') {
  const { started, close } = await start<{ readonly url: string }>(role);
  return { url: started.url, close };
}

async function spokenAgent(engine: SpeechEngine): Promise<PreparedVoice> {
  const { voice, ...prepared } = await scriptedAgent(engine, { answers: ANSWERS.map((say) => [{ say }]) });
  const asking = await scriptedAgent(engine, { answers: [[{ say: STILL_THERE }]] });
  const say: typeof voice.say = (text, behaviour) => (text === STILL_THERE ? asking.voice : voice).say(text, behaviour);
  return { ...prepared, voice: { say } };
}

async function serveAgents([line, ...kinds]: readonly string[]): Promise<() => Promise<unknown>> {
  const engine = new FliteEngine();
  const agent = await spokenAgent(engine);
  const servers = await Promise.all(
    kinds.map((kind, caller) => {
      const onAnswer = ({ firstByteMs, callerEndMs }: AnswerStamp) =>
        process.send?.({ caller, delayMs: firstByteMs - callerEndMs } satisfies OwnDelay);
      const own = { turnEndMs: TURN_END_MS, now: () => TODAY, prepare: () => Promise.resolve(agent) };
      const options = { ...KINDS[kind as Kind].agent, ...own };
      return startReferenceAgent(
        line === 'telephone'
          ? { port: 0, telephone: { ...options, onAnswer: (_callSid, stamp) => onAnswer(stamp) } }
          : { port: 0, realtime: { ...options, onAnswer } },
      );
    }),
  );
  const urls = servers.map(({ url }) =>
    line === 'telephone' ? `${url}/voice` : `${url.replace(/^http/, 'ws')}/v1/realtime?model=booking`,
  );
  process.send?.(urls);
  return () => Promise.all([...servers.map((server) => server.close()), engine.close()]);
}

async function serveModel(): Promise<() => Promise<unknown>> {
  const servers = new TestServers();
  const reply = (asked: Asked): Reply => {
    const answer = asked.role === 'judge' ? verdict(asked, true) : lineOf(asked);
    const kind = /of the kind (\w+)/.exec(JSON.stringify(asked.messages))![1] as Kind;
    const { thinkMs } = KINDS[kind];
    return (response) => void setTimeout(() => sendCompletion(response, JSON.stringify(answer)), thinkMs);
  };
  const { url } = await stubModel(servers, reply);
  process.send?.({ url });
  return () => servers.close();
}

async function serveTranscription(): Promise<() => Promise<unknown>> {
  const engine = new FliteEngine();
  const { listener } = await heardAgent({ synthesiser: engine }, ({ synthesiser }) => spokenAgent(synthesiser));
  await engine.close();
  const server = listeningServer(listener);
  process.send?.({ url: await server.start() });
  return () => server.stop();
}

/** A line of two sentences that no other caller says, so that each is synthesised for itself. */
function lineOf({ messages }: Asked): object {
  const caller = /You are caller (\d+)/.exec(messages[0]!.content)![1];
  const turn = messages.filter(({ role }) => role === 'assistant').length;
  const isOver = messages.at(-1)!.content.includes('Goodbye') || turn >= QUESTIONS.length;
  if (isOver) return { say: `This was caller ${caller}, thank you. Goodbye.`, end: 'All is known' };
  return { say: `I am caller number ${caller}, on line ${turn}. ${QUESTIONS[turn]}`, end: null };
}

const SERVERS = { agents: serveAgents, model: serveModel, transcription: serveTranscription };

const [role = '', ...rest] = process.argv.slice(2);
if (role in SERVERS) {
  const stop = await SERVERS[role as keyof typeof SERVERS](rest);
  process.once('disconnect', () => void stop().then(() => process.exit()));
}
