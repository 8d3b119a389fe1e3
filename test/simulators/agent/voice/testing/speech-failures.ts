import { writeWav } from '../../../../../libs/audio/index.js';
import { OutboundClient } from '../../../../../libs/outbound-http/index.js';
import type { CallResult } from '../../../../../libs/simulation/index.js';
import { SpeechServer } from '../../../../../libs/speech/index.js';
import {
  failing,
  type ReceivedText,
  type SpeechAnswer,
  SpeechDouble,
  withSizes,
} from '../../../speech/speech-double.js';
import type { TelephoneFailures } from './telephone-failures.js';
import type { VoiceCalls } from './voice-call.js';

/** What a server makes of the true audio of a line. */
type Spoiled = (file: Uint8Array, received: ReceivedText) => SpeechAnswer;

const TRUE: Spoiled = (body) => ({ body });
/** A request may take so long here. */
const TIMEOUT_MS = 300;

/** How a speech server may be. The first two speak, the others do not. */
export const SPEECH_FAILURES = {
  none: TRUE,
  'header sizes of a stream': (file) => ({ body: withSizes(file, 0xffff_ffff) }),
  'no sound': (_, received) => failing('silence')(received),
  'an empty body': (_, received) => failing('empty body')(received),
  'a wrong rate': (_, received) => failing('wrong rate')(received),
  'several RIFF headers': (file) => ({ body: Buffer.concat([file, file]) }),
  'JSON in place of sound': (_, received) => failing('json')(received),
  'a cut stream': (body) => ({ body, isCut: true }),
  'Opus for WAV': (_, received) => failing('opus')(received),
  'too slow': (body) => ({ body, afterMs: 100 * TIMEOUT_MS }),
  'status 500': (_, received) => failing('status 500')(received),
  'status 404, no such model': (_, received) => failing('status 404')(received),
  'refused connections': TRUE,
} as const satisfies Readonly<Record<string, Spoiled>>;
export type SpeechFailureName = keyof typeof SPEECH_FAILURES;

/** Whether a caller can speak with it. */
export const speaks = (failure: SpeechFailureName): boolean =>
  failure === 'none' || failure === 'header sizes of a stream';

/** Calls of the agent of the guide over Twilio, with exact words, whose caller speaks by a server that fails. */
export class SpeechFailures {
  private readonly outbound = new OutboundClient({ allowedNetworks: ['127.0.0.0/8'] });

  /** @param telephone agents and evaluation */
  constructor(
    private readonly calls: VoiceCalls,
    private readonly telephone: TelephoneFailures,
  ) {}

  get checks(): TelephoneFailures['checks'] {
    return this.telephone.checks;
  }

  /** @param fault name of the check that the agent violates @returns the result, and the server as errors name it */
  async call(failure: SpeechFailureName, fault?: string): Promise<{ result: CallResult; server: string }> {
    const double = new SpeechDouble(async (received) =>
      SPEECH_FAILURES[failure](await this.audioOf(received.body), received),
    );
    const baseUrl = await double.start();
    if (failure === 'refused connections') await double.stop();
    const timeoutMs = failure === 'too slow' ? TIMEOUT_MS : undefined;
    const setting = 'TTS_BASE_URL';
    const speech = new SpeechServer({
      baseUrl,
      setting,
      outbound: this.outbound,
      pauseMs: 1,
      ...(timeoutMs && { timeoutMs }),
    });
    try {
      const result = await this.telephone.call('none', fault, speech);
      return { result, server: `the speech server ${new URL(baseUrl).host} (${setting})` };
    } finally {
      await speech.close();
      if (failure !== 'refused connections') await double.stop();
    }
  }

  private async audioOf({ input: text, voice }: ReceivedText['body']): Promise<Uint8Array> {
    const { pcm, rate = 8_000 } = await this.calls.synthesiser.synthesise({ text, voice });
    return writeWav({ channels: [pcm], rate, encoding: 'pcm16' });
  }
}
