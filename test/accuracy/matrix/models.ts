import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { FaultName } from '../../../libs/reference-agent/index.js';
import { untilEnd } from '../../../libs/reference-agent/testing/accuracy.js';
import { referenceTransport } from '../../../libs/reference-agent/testing/transport.js';
import { type CallResult, VirtualClock } from '../../../libs/simulation/index.js';
import { normalise } from '../../../libs/evaluation-definition/index.js';
import { stubModel } from '../../../libs/simulation/testing/llm-stub.js';
import { TestServers } from '../../../libs/simulation/testing/servers.js';
import { mapLimited } from '../limited.js';
import type { Row } from './row.js';

type Reply = string | object | ((response: ServerResponse) => void);
type Message = { readonly role: string; readonly content: string };

/** A verdict in the judge's form, for the transcript in its messages. */
type Judge = (statement: string, transcript: readonly TranscriptLine[]) => Reply;
/** The caller's next line. @param turn counts from 0 @param heard the agent's last words */
type Caller = (turn: number, heard: string) => Reply;

interface TranscriptLine {
  readonly who: string;
  readonly text: string;
}

interface ModelFault {
  readonly description: string;
  readonly judge?: Judge;
  readonly caller?: Caller;
  /** Outcomes that are right with the sound agent, and with the agent that states wrong opening hours. */
  readonly sound: readonly CallResult['outcome'][];
  readonly faulty: readonly CallResult['outcome'][];
}

const STATEMENT = 'The agent says that the restaurant is open until 10 pm.';
const SCENARIO = {
  scenarioText: 'You want to know until when the restaurant is open today, and where it is. Your name is Rossi.',
};
/** The fault that the statement is about. */
const PLANTED: FaultName = 'wrong-fact';

const say = (words: string, end: string | null = null) => ({ say: words, end });
const LINES = [
  say('Good evening. Until when are you open?'),
  say("And what's your address?"),
  say('Thank you, goodbye.', 'I know what I wanted to know'),
];
const goodCaller: Caller = (turn) => LINES[Math.min(turn, LINES.length - 1)]!;

/** Decides by the words of the transcript, and quotes a sentence of at least three words. */
const goodJudge: Judge = (statement, transcript) => {
  const said = (who: string) => transcript.filter((line) => line.who === who).map(({ text }) => text);
  if (statement !== STATEMENT) return verdict(true, said('caller')[0] ?? '');
  const right = said('agent').find((text) => /until (10 ?p\.?m|22:00|ten)/i.test(text));
  return verdict(right !== undefined, right ?? said('agent')[0] ?? '');
};
const verdict = (met: boolean, quote: string) => ({ met, quote, reasoning: met ? 'It says so.' : 'It does not.' });

const status =
  (code: number) =>
  (response: ServerResponse): void =>
    void response.writeHead(code, { 'content-type': 'application/json' }).end('{"error": {"message": "overloaded"}}');
const cut = (response: ServerResponse): void => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': 1_000 });
  response.write('{"choices": [');
  setImmediate(() => response.destroy());
};
const never = (): void => undefined;

const UNUSABLE = { sound: ['error'], faulty: ['error'] } as const;
const OUT_OF_ROLE = { sound: ['invalid'], faulty: ['invalid'] } as const;

/** Models that misbehave in ways that code can see through. */
export const MODEL_FAULTS: Readonly<Record<string, ModelFault>> = {
  'judge: empty': { ...UNUSABLE, description: 'gives empty answers', judge: () => '' },
  'judge: prose': { ...UNUSABLE, description: 'answers in prose', judge: () => 'The agent did well, I would say.' },
  'judge: no fields': { ...UNUSABLE, description: 'answers with another JSON object', judge: () => ({ score: 5 }) },
  'judge: "yes"': {
    ...UNUSABLE,
    description: 'answers "yes" instead of true',
    judge: (...of) => ({ ...(goodJudge(...of) as object), met: 'yes' }),
  },
  'judge: one letter': {
    ...UNUSABLE,
    description: 'always approves, with the quote "e"',
    judge: () => verdict(true, 'e'),
  },
  'judge: one word': {
    ...UNUSABLE,
    description: 'always disapproves, with a quote of one word',
    judge: () => verdict(false, 'open'),
  },
  'judge: invents': {
    ...UNUSABLE,
    description: 'always disapproves, with an invented quote',
    judge: () => verdict(false, 'I hate all of my guests'),
  },
  'judge: no quote': {
    ...UNUSABLE,
    description: 'always approves, without a quote',
    judge: () => ({ met: true, reasoning: 'Of course.' }),
  },
  'judge: HTTP 500': { ...UNUSABLE, description: 'answers HTTP 500', judge: () => status(500) },
  'judge: cut': { ...UNUSABLE, description: 'breaks off its answers', judge: () => cut },
  'judge: no answer': { ...UNUSABLE, description: 'does not answer in time', judge: () => never },
  'caller: empty': { ...OUT_OF_ROLE, description: 'gives empty answers', caller: () => '' },
  'caller: prose': { ...OUT_OF_ROLE, description: 'answers with something else than JSON', caller: () => 'Hm.' },
  'caller: HTTP 500': { ...UNUSABLE, description: 'answers HTTP 500', caller: () => status(500) },
  'caller: leaves a question': {
    ...OUT_OF_ROLE,
    description: 'says goodbye and hangs up when the agent asks something',
    caller: (turn) => (turn === 0 ? say("I'd like to book a table.") : say('Goodbye.', 'Enough')),
  },
  'caller: leaves at once': {
    ...OUT_OF_ROLE,
    description: 'hangs up after a polite goodbye, before its question is answered',
    caller: (turn) => (turn === 0 ? say('Hello there.') : say('', 'I am done')),
  },
  'caller: repeats itself': {
    ...OUT_OF_ROLE,
    description: 'says the same line again and again',
    caller: (turn) => say(['Hello.', 'Until when are you open?'][Math.min(turn, 1)]!),
  },
  'caller: alternates': {
    ...OUT_OF_ROLE,
    description: 'alternates between two lines',
    caller: (turn) => say(turn % 2 === 0 ? 'Until when are you open?' : 'Where is that, please?'),
  },
  'caller: invents': {
    ...OUT_OF_ROLE,
    description: 'gives a phone number that its scenario does not hold',
    caller: (turn) => (turn === 1 ? say('My number is 0171 555 0199.') : goodCaller(turn, '')),
  },
  'caller: speaks as the agent': {
    ...OUT_OF_ROLE,
    description: "repeats the agent's words as its own",
    caller: (turn, heard) => (turn === 0 ? LINES[0]! : say(heard)),
  },
  'caller: never ends': {
    ...OUT_OF_ROLE,
    description: 'keeps thanking the agent and never hangs up',
    caller: (turn) => (turn < 2 ? LINES[turn]! : say(`Thank you so much, that was kind, number ${turn}.`)),
  },
};

/** Models that behave, to show that the calls are fair. */
const FAIR: ModelFault = {
  description: 'plays and judges as it should',
  sound: ['passed'],
  faulty: ['failed'],
};

/** Only models that do not answer take this long. */
const MODEL_TIMEOUT_MS = 1_000;
const CALLS_AT_ONCE = 8;

const servers = new TestServers();

/** Rows of the misbehaving models, each with the sound and with a faulty agent. The model is reached over sockets. */
export function modelRows(): { readonly rows: readonly Row[]; close(): Promise<void> } {
  const rows = Object.entries({ 'behaves well': FAIR, ...MODEL_FAULTS }).flatMap(([name, fault]): Row[] => [
    {
      ...{ group: 'model', name: `${name}, sound agent`, description: fault.description, allowed: fault.sound },
      execute: async () => [await play(fault, undefined)],
    },
    {
      ...{ group: 'model', name: `${name}, faulty agent`, description: fault.description, allowed: fault.faulty },
      execute: async () => [await play(fault, PLANTED)],
    },
  ]);
  return { rows, close: () => servers.close() };
}

/** A misbehaving judge gets a scripted caller, and a misbehaving caller a good judge. */
async function play({ judge, caller }: ModelFault, fault: FaultName | undefined): Promise<CallResult> {
  const reply = (asked: {
    readonly role: string;
    readonly statement: string;
    readonly messages: readonly Message[];
  }) =>
    asked.role === 'judge'
      ? (judge ?? goodJudge)(asked.statement, transcriptOf(asked.messages))
      : (caller ?? goodCaller)(turnOf(asked.messages), asked.messages.at(-1)?.content ?? '');
  const { model } = await stubModel(servers, reply, { timeoutMs: MODEL_TIMEOUT_MS });
  const script = judge ? LINES.map((line) => ({ say: line.say })) : [];
  return untilEnd({
    definition: normalise({ script, criteria: [{ text: STATEMENT }], maxTurns: 12 }),
    scenario: SCENARIO,
    personality: { name: 'Plain' },
    transport: referenceTransport({ fault, latencyMs: 20 }),
    model,
    clock: new VirtualClock(),
  });
}

/** One JSON object per line, as the judge's prompt has it. */
const transcriptOf = (messages: readonly Message[]): TranscriptLine[] =>
  (messages[1]?.content ?? '')
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as TranscriptLine);

const turnOf = (messages: readonly Message[]): number =>
  messages.filter(({ role, content }) => role === 'assistant' && content.startsWith('{"say"')).length;

/** Share of wrong verdicts of a judge that errs independently in a share of its answers; by agent. */
export async function erringJudge(calls: number, errorRate: number): Promise<{ sound: number; faulty: number }> {
  const ofJudge = new TestServers();
  const answers = new Map<string, number>();
  const { model } = await stubModel(ofJudge, ({ statement, messages }) => {
    const number = (answers.get(statement) ?? 0) + 1;
    answers.set(statement, number);
    const right = goodJudge(STATEMENT, transcriptOf(messages)) as ReturnType<typeof verdict>;
    return chance(`${statement} ${number}`) < errorRate ? { ...right, met: !right.met } : right;
  });
  const wrongShare = async (fault: FaultName | undefined, right: CallResult['outcome']) => {
    const indexes = Array.from({ length: calls }, (_, index) => index);
    const results = await mapLimited(indexes, CALLS_AT_ONCE, (index) =>
      untilEnd({
        definition: normalise({
          script: LINES.map((line) => ({ say: line.say })),
          criteria: [{ text: `${STATEMENT} (${fault ?? 'sound'} ${index})` }],
        }),
        scenario: SCENARIO,
        personality: { name: 'Plain' },
        transport: referenceTransport({ fault, latencyMs: 20 }),
        model,
        clock: new VirtualClock(),
      }),
    );
    return results.filter(({ outcome }) => outcome !== right).length / calls;
  };
  try {
    return { sound: await wrongShare(undefined, 'passed'), faulty: await wrongShare(PLANTED, 'failed') };
  } finally {
    await ofJudge.close();
  }
}

/** A number from 0 to 1 that depends on the text alone, so that a measurement can be repeated. */
const chance = (text: string): number => createHash('sha256').update(text).digest().readUInt32BE() / 2 ** 32;
