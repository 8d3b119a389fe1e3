import type { EvaluationInput } from '../../../../../libs/evaluation-definition/index.js';
import type { CallResult } from '../../../../../libs/simulation/index.js';
import { BOOKING_CRITERION, BOOKING_WORDS, bookingAnswer, wellBehavedModel } from '../../testing/booking-agent.js';
import { SCENARIO } from '../../../../../libs/simulation/testing/calls.js';
import { stubModel } from '../../../model/llm-stub.js';
import { type MisbehavingModel, misbehaving } from '../../../model/misbehaving-models.js';
import { TestServers } from '../../../servers.js';
import type { Recogniser } from '../ear.js';
import type { PreparedVoice } from '../prepare.js';
import { type KnownSound, TemplateRecogniser } from '../recogniser.js';
import type { Dialogue } from '../spoken-dialogue.js';
import { soundAsHeard } from '../templates.js';
import { spokenWords } from './scripted-agent.js';
import type { RealtimeCallOptions, VoiceCalls } from './voice-call.js';

/** A call of a generated caller, whose model also judges. */
export interface ModelCell {
  /** A well-behaved one if it is absent. */
  readonly model?: MisbehavingModel;
  readonly isFaulty: boolean;
  /** What decides the outcome. */
  readonly by: 'criterion' | 'check';
}

const DECISIONS = {
  criterion: { criteria: [{ text: BOOKING_CRITERION }] },
  check: { checks: [{ type: 'says', text: 'is booked' }] },
} as const satisfies Readonly<Record<ModelCell['by'], Partial<EvaluationInput>>>;

/** Only models that do not answer take this long; in milliseconds. */
const NO_ANSWER_MS = 500;
const VOICE = 'slt';

/** Generated callers of a booking agent over OpenAI Realtime, on the virtual clock. Their model is reached over sockets. */
export class ModelCells {
  private readonly servers = new TestServers();

  constructor(private readonly calls: VoiceCalls) {}

  async call({ model, isFaulty, by }: ModelCell, recording?: RealtimeCallOptions['recording']): Promise<CallResult> {
    const answering = model ? misbehaving(model, wellBehavedModel) : wellBehavedModel;
    const timeoutMs = model?.name.includes('in time') ? NO_ANSWER_MS : 10_000;
    const stub = await stubModel(this.servers, answering, { timeoutMs });
    const ear = new LearningRecogniser();
    const evaluation = { key: 'booking', personalityId: 'any', name: 'Books a table', maxTurns: 12, ...DECISIONS[by] };
    return this.calls.callRealtime({ ...evaluation, scenarioText: SCENARIO.scenarioText }, VOICE, {
      ...{ firstSpeaker: 'caller', model: stub.model, prepared: await this.agent(isFaulty, ear) },
      onSynthesised: (text, pcm) => ear.learn(text, pcm),
      ...(recording && { recording }),
    });
  }

  close(): Promise<void> {
    return this.servers.close();
  }

  private async agent(isFaulty: boolean, recogniser: Recogniser): Promise<PreparedVoice> {
    const say = await spokenWords(this.calls.synthesiser, Object.values(BOOKING_WORDS));
    return { voice: { say }, recogniser, dialogue: () => new BookingDialogue(isFaulty) };
  }
}

class BookingDialogue implements Dialogue {
  readonly caller: string[] = [];
  readonly agent: string[] = [];

  constructor(private readonly isFaulty: boolean) {}

  answer(said = '') {
    this.caller.push(said);
    const text = bookingAnswer(this, this.isFaulty);
    this.agent.push(text);
    return { text };
  }

  result(): void {}

  press() {
    return { text: '' };
  }
}

/** Recognises by their sound the lines that were synthesised so far. */
export class LearningRecogniser implements Recogniser {
  private readonly known: KnownSound[] = [];
  private recogniser = new TemplateRecogniser([]);

  learn(text: string, pcm: Int16Array): void {
    this.known.push({ type: 'line', text, pcm: soundAsHeard(pcm) });
    this.recogniser = new TemplateRecogniser(this.known);
  }

  recognise(pcm: Int16Array, noise: Int16Array) {
    return this.recogniser.recognise(pcm, noise);
  }
}
