import { dbfs, encodeMulaw, speechBounds } from '../../../../../libs/audio/index.js';
import type { AgentAction } from '../../../../../libs/simulation/index.js';
import type { SpeechEngine } from '../../../../../libs/speech/index.js';
import type { Recogniser } from '../ear.js';
import { RATE } from '../frames.js';
import type { PreparedVoice } from '../prepare.js';
import type { Dialogue, SpokenAnswer, ToolRequest } from '../spoken-dialogue.js';

/** A pause in milliseconds, words, or a tool call; `end_call` hangs up after the words. */
export type Action = number | AgentAction;
export type Turn = readonly Action[];

const VOICE = 'rms';

/** Takes every sound for a line that it does not understand: the agent's turns are fixed. */
const ANY_LINE: Recogniser = { recognise: () => ({ type: 'line', text: '(any words)', isComplete: true }) };

/** The greeting, or nothing if the caller speaks first, and the answers to the caller's turns. */
export interface ScriptedTurns {
  readonly greeting?: Turn | undefined;
  readonly answers: readonly Turn[];
}

/** An agent that does the same in every call, with a real voice. */
export async function scriptedAgent(
  speech: SpeechEngine,
  { greeting = [], answers }: ScriptedTurns,
): Promise<PreparedVoice> {
  const sounds = new Map<string, Uint8Array>();
  for (const turn of [greeting, ...answers]) sounds.set(wordsOf(turn), await soundOf(speech, turn));
  return {
    voice: { say: (text) => sounds.get(text) },
    recogniser: ANY_LINE,
    dialogue: () => new ScriptedDialogue(greeting, answers),
  };
}

/** The sounds of these answers. */
export async function spokenWords(
  speech: SpeechEngine,
  answers: readonly string[],
): Promise<PreparedVoice['voice']['say']> {
  const sounds = new Map<string, Uint8Array>();
  for (const say of answers) sounds.set(say, await soundOf(speech, [{ say }]));
  return (text) => sounds.get(text);
}

/** Says and does what is next, whatever it hears. */
class ScriptedDialogue implements Dialogue {
  private turns = 0;
  /** Goes on with it when its tools were run. */
  private open: Turn | undefined;

  constructor(
    private readonly greeting: Turn,
    private readonly answers: readonly Turn[],
  ) {}

  answer(said?: string): SpokenAnswer {
    const turn = this.open ?? (said === undefined ? this.greeting : (this.answers[this.turns++] ?? []));
    const calls = this.open ? [] : callsOf(turn, this.turns);
    this.open = calls.length > 0 ? turn : undefined;
    if (calls.length > 0) return { text: '', calls };
    return { text: wordsOf(turn), ...(hangsUp(turn) && { then: 'hang-up' }) };
  }

  result(): void {}

  press(): SpokenAnswer {
    return { text: '' };
  }
}

const wordsOf = (turn: Turn): string =>
  turn.map((action) => (typeof action === 'object' && 'say' in action ? action.say : '')).join('');

const hangsUp = (turn: Turn): boolean =>
  turn.some((action) => typeof action === 'object' && 'tool' in action && action.tool === 'end_call');

/** Tools are called before the words of their turn. */
const callsOf = (turn: Turn, number: number): ToolRequest[] =>
  turn.flatMap((action, index) =>
    typeof action === 'object' && 'tool' in action && action.tool !== 'end_call'
      ? [{ id: `call_${number}_${index}`, name: action.tool, arguments: JSON.stringify(action.arguments ?? {}) }]
      : [],
  );

/** Its words, without the silence before them, and its pauses. */
async function soundOf(speech: SpeechEngine, turn: Turn): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for (const action of turn) {
    if (typeof action === 'number') parts.push(encodeMulaw(new Int16Array((RATE * action) / 1_000)));
    else if ('say' in action) {
      // Formatting is not read aloud.
      const { pcm } = await speech.synthesise({ text: action.say.replaceAll('*', ''), voice: VOICE });
      parts.push(encodeMulaw(pcm.subarray(onsetOf(pcm))));
    }
  }
  return Buffer.concat(parts);
}

const BLOCK = RATE / 100;
const ONSET_BLOCKS = 6;
const AUDIBLE_DBFS = -55;

/**
 * First sample from which on speech is audible for 60 ms, so that a planted delay ends where the answer is heard. The voicing
 * before the "G" of "Goodbye" is 10 ms long, and 40 ms of silence follow it.
 */
function onsetOf(pcm: Int16Array): number {
  const isAudible = (from: number) => dbfs(pcm.subarray(from, from + BLOCK)) > AUDIBLE_DBFS;
  let audible = 0;
  let from = speechBounds(pcm).start;
  for (let at = from; at < pcm.length && audible < ONSET_BLOCKS; at += BLOCK) {
    if (isAudible(at)) audible += 1;
    else [audible, from] = [0, at + BLOCK];
  }
  return audible < ONSET_BLOCKS ? speechBounds(pcm).start : from + speechBounds(pcm.subarray(from)).start;
}
