import { type DefinitionInput, normalise } from '../../evaluation-definition/index.js';
import type { Transcription, TranscriptionRequest } from '../../speech/index.js';
import { type CallResult, executeCall, readFacts, remeasure, VirtualClock } from '../index.js';
import {
  type Act,
  FixtureAgent,
  type FixtureScript,
  READY,
  says,
} from '../transports/wires/testing/fixture-double/agent.js';
import fixtureEntry from '../transports/wires/testing/fixture-wire/wire.js';
import { virtualCalls } from '../voice/call/virtual-call.js';
import type { VoiceTranscription } from '../voice/conversation/transcriber.js';
import { SOUNDS } from '../voice/testing/virtual-calls.js';

/** What is said, by its length in milliseconds: the recogniser of these tests hears nothing else. */
export const SENTENCES: Readonly<Record<number, string>> = {
  900: 'Bella Vista, good evening.',
  3_000: 'A table for four at half past seven. Shall I book it?',
  1_500: 'It is booked. Goodbye!',
  2_300: 'We are full. Goodbye!',
};
const act = (item: number, ms: number): Act => ({ afterMs: 200, send: says(item, SENTENCES[ms]!, ms).slice(0, -1) });
export const agent = (...answers: readonly number[]): FixtureScript => ({
  onHello: [READY, act(1, 900)],
  onLine: answers.map((ms, index) => [act(index + 2, ms)]),
});
export const HEALTHY = agent(3_000, 1_500);
export const FAULTY = agent(3_000, 2_300);
/** The same with the words by the wire, too. */
export const WITH_WORDS: FixtureScript = {
  onHello: [READY, { afterMs: 200, send: says(1, SENTENCES[900]!, 900) }],
  onLine: [
    [{ send: says(2, 'A table for four at 19:30. Shall I book it?', 3_000) }],
    [{ send: says(3, SENTENCES[1_500]!, 1_500) }],
  ],
};

/** How the recogniser hears what is said. */
export type Hearing = (
  said: string,
  request: number,
  clock: VirtualClock,
  audio: TranscriptionRequest,
) => Transcription | null | Promise<Transcription | null>;
const exactly: Hearing = (text) => ({ text });

const SCRIPT = [{ say: 'A table for four at half past seven, please.' }, { say: 'Yes, please.' }, { end: 'Done' }];
export const ASKING = [
  { say: 'A table for four at half past seven, please.' },
  { answers: [{ when: { says: { text: 'Shall I' } }, say: 'Yes, please.' }], until: { says: { text: 'Goodbye' } } },
  { end: 'Done' },
];

export interface Given extends Partial<Pick<VoiceTranscription, 'mode' | 'needed'>> {
  readonly hears?: Hearing;
  readonly script?: FixtureScript;
  readonly providesWords?: boolean;
}

/** A call to an agent of which only sound is known, and the requests to the recogniser. */
export async function call(definition: DefinitionInput, given: Given = {}) {
  const { hears = exactly, script = HEALTHY, mode = 'auto', needed = true, providesWords = false } = given;
  const clock = new VirtualClock();
  const requests: TranscriptionRequest[] = [];
  const stored = { audio: [] as Uint8Array[], facts: '' };
  const recogniser = {
    transcribe: async (request: TranscriptionRequest) => {
      requests.push(request);
      return hears(saidIn(request), requests.length, clock, request);
    },
  };
  const input = normalise({ script: SCRIPT, ...definition });
  const scenario = { scenarioText: 'You want a table.' };
  const result = await executeCall({
    ...{ definition: input, scenario, personality: { name: 'Caller' }, clock },
    transport: {
      ...virtualCalls({
        wire: fixtureEntry({ callId: 'c-1', secrets: [] }),
        lineRate: 16_000,
        agent: (socket) => new FixtureAgent(socket, script),
      }),
      providesWords,
    },
    voice: {
      ...{ sounds: SOUNDS, voice: 'any', transcription: { recogniser, mode, model: 'small', needed } },
      recording: {
        audio: (part) => stored.audio.push(part),
        wire: () => undefined,
        facts: (json) => (stored.facts = json),
      },
    },
  });
  const again = (other: DefinitionInput = definition) => {
    const stereo = new Int16Array(new Uint8Array(Buffer.concat(stored.audio)).buffer);
    const lane = { rate: 16_000 as const, pcm: stereo.filter((_, index) => index % 2 === 1) };
    return remeasure({
      ...{ definition: normalise({ script: SCRIPT, ...other }), scenario, personality: { name: 'Caller' } },
      ...{ recorded: result, facts: readFacts(stored.facts)!, lane },
    });
  };
  return { result, requests, again };
}

/** The sentence that a piece of audio has. */
export const saidIn = ({ pcm, rate }: Pick<TranscriptionRequest, 'pcm' | 'rate'>): string => {
  const ms = (pcm.length / rate) * 1_000;
  const nearest = Object.keys(SENTENCES)
    .map(Number)
    .sort((a, b) => distance(a, ms) - distance(b, ms))[0]!;
  return SENTENCES[nearest]!;
};

/** Pieces have 200 ms, or the second time 400 ms, around them. */
const distance = (sentenceMs: number, ms: number): number =>
  Math.min(Math.abs(sentenceMs + 400 - ms), Math.abs(sentenceMs + 800 - ms));
export const outcomeOf = ({ outcome, failure }: CallResult) => [outcome, failure?.code ?? null];
export const agentTexts = ({ timeline }: CallResult) =>
  timeline.flatMap((entry) => (entry.type === 'speech' && entry.speaker === 'agent' ? [entry.text] : []));

export const BOOKS = { checks: [{ type: 'says', text: 'is booked' }] } satisfies DefinitionInput;
export const NEVER_FULL = { checks: [{ type: 'never_says', text: 'We are full' }] } satisfies DefinitionInput;
