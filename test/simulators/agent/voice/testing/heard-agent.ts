import { createHash } from 'node:crypto';
import type { SpeechEngine, TranscribedWord } from '../../../../../libs/speech/index.js';
import { SentenceListener } from '../../../transcription/transcription-double.js';
import type { PreparedVoice } from '../prepare.js';
import type { Dialogue, ToolRequest } from '../spoken-dialogue.js';
import type { VoiceCalls } from './voice-call.js';

/** An agent, and what recognises everything that it says from its sound. */
export interface HeardAgent {
  readonly prepared: PreparedVoice;
  readonly listener: SentenceListener;
}

/** @param prepare synthesises all sentences of the agent @param onTool called with each tool that it runs */
export async function heardAgent(
  { synthesiser }: Pick<VoiceCalls, 'synthesiser'>,
  prepare: (calls: Pick<VoiceCalls, 'synthesiser'>) => Promise<PreparedVoice>,
  onTool: OnTool = () => undefined,
): Promise<HeardAgent> {
  const sounds: Awaited<ReturnType<SpeechEngine['synthesise']>>[] = [];
  const noted: SpeechEngine = {
    ...{ name: synthesiser.name, version: synthesiser.version },
    synthesise: async (request, signal) => {
      const sound = await synthesiser.synthesise(request, signal);
      sounds.push(sound);
      return sound;
    },
  };
  const { dialogue, ...prepared } = await prepare({ synthesiser: noted });
  return {
    prepared: { ...prepared, ...(dialogue && { dialogue: () => withOwnTools(dialogue(), onTool) }) },
    listener: new RememberingListener(sounds),
  };
}

type OnTool = (tool: ToolRequest) => void;

/** On the telephone an agent runs its tools itself. */
const withOwnTools = (dialogue: Dialogue, onTool: OnTool): Dialogue => ({
  answer: (said) => {
    const answer = dialogue.answer(said);
    answer.calls?.forEach(onTool);
    return answer.calls ? dialogue.answer() : answer;
  },
  result: (id, content) => dialogue.result(id, content),
  press: (keys) => dialogue.press(keys),
});

/** Hears equal audio once: the agent says the same in many calls. */
export class RememberingListener extends SentenceListener {
  private readonly known = new Map<string, TranscribedWord[]>();

  override hear(pcm: Int16Array, rate: number): TranscribedWord[] {
    const key = createHash('sha256').update(pcm).update(String(rate)).digest('base64');
    const heard = this.known.get(key) ?? super.hear(pcm, rate);
    this.known.set(key, heard);
    return heard;
  }
}
