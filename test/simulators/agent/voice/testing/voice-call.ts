import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type EvaluationInput, normalise } from '../../../../../libs/evaluation-definition/index.js';
import { OutboundClient } from '../../../../../libs/outbound-http/index.js';
import {
  type AgentEndpoint,
  type CallResult,
  type Clock,
  executeCall,
  type InProcessMediaAgentFactory,
  type LanguageModel,
  type ProductionCall,
  type RecordingSink,
  type TakeReports,
  transportTo,
  virtualCalls,
  type VirtualCallOptions,
  VirtualClock,
  type VoiceTransport,
} from '../../../../../libs/simulation/index.js';
import {
  elevenlabsWire,
  pipecatWire,
  realtimeWire,
  sipWire,
  twilioWire,
  vapiWire,
  type VoiceCallOptions,
  withRecord,
} from '../../../../../libs/simulation/testing/wires.js';
import {
  babbleLoop,
  CachedSpeech,
  FliteEngine,
  type Recogniser,
  soundOf,
  type SpeechEngine,
  type TranscriptionRequest,
} from '../../../../../libs/speech/index.js';
import type { FaultName } from '../../faults.js';
import type { CallerLine } from '../caller-lines.js';
import { type PreparedVoice, prepareVoice } from '../prepare.js';
import { ElevenLabsAgentSession, type ElevenLabsSessionOptions } from '../../../elevenlabs/session.js';
import { RealtimeAgentSession, type RealtimeSessionOptions } from '../../../openai-realtime/session.js';
import { PipecatAgentSession, type PipecatSessionOptions } from '../../../pipecat/session.js';
import { SipAgentSession, type SipSessionOptions } from '../../../sip/session.js';
import { VapiAgentSession, type VapiSessionOptions } from '../../../vapi/session.js';
import { TwilioAgentSession } from '../../../twilio/twilio-session.js';
import { delayed } from './delay.js';
import type { VoiceAgentOptions } from '../voice-agent.js';

/** Friday, 4 December 2026. */
export const TODAY = Date.UTC(2026, 11, 4, 10);

const sid = (prefix: string, digit: string): string => prefix + digit.repeat(32);

export interface TestCallOptions
  extends
    Pick<VoiceAgentOptions, 'fault' | 'wordFault' | 'responseMs' | 'asks' | 'onAnswer'>,
    Pick<VirtualCallOptions, 'stalls'> {
  readonly recording?: RecordingSink;
  /** What it speaks and hears with, if it is not that of all calls. */
  readonly prepared?: PreparedVoice;
  /** Hears the agent's words. */
  readonly recogniser?: Recogniser;
  /** Judges. */
  readonly model?: LanguageModel;
  /** Whether the words come after they are awaited; they take no time by default. */
  readonly areWordsLate?: boolean;
  /** What the backend of the agent reports. */
  readonly takeReports?: TakeReports;
  /** Speaks the lines of the caller, if it is not what synthesises all voices. */
  readonly speech?: SpeechEngine;
  /** Puts something between the agent and its line. */
  readonly around?: (agent: InProcessMediaAgentFactory) => InProcessMediaAgentFactory;
}

export interface RealtimeCallOptions extends Pick<
  RealtimeSessionOptions,
  'fault' | 'responseMs' | 'asks' | 'oneWayMs' | 'onTruncate' | 'onAnswer'
> {
  /** What it speaks and hears with, if it is not that of all calls. */
  readonly prepared?: PreparedVoice;
  /** Further settings of the session. */
  readonly session?: object;
  readonly isWide?: boolean;
  readonly firstSpeaker?: 'caller';
  readonly recording?: RecordingSink;
  /** Plays a caller without a script, and judges. */
  readonly model?: LanguageModel;
  readonly takeReports?: TakeReports;
  /** Whether a caller without a script interrupts the agent. */
  readonly interrupts?: boolean;
  /** Called with each line of the caller before it is spoken. */
  readonly onSynthesised?: (text: string, pcm: Int16Array) => void;
  readonly around?: (agent: InProcessMediaAgentFactory) => InProcessMediaAgentFactory;
}

export interface ElevenLabsCallOptions
  extends
    Pick<ElevenLabsSessionOptions, 'fault' | 'responseMs' | 'format' | 'onAnswer' | 'recorded'>,
    Pick<RealtimeCallOptions, 'prepared' | 'recording' | 'around'> {
  readonly isTelephone?: boolean;
}

export type VapiCallOptions = Pick<VapiSessionOptions, 'fault' | 'responseMs' | 'onAnswer'> &
  Omit<ElevenLabsCallOptions, 'fault' | 'format'>;

export type SipCallOptions = Pick<
  SipSessionOptions,
  'fault' | 'wordFault' | 'responseMs' | 'onAnswer' | 'line' | 'hostedTools' | 'recorded'
> &
  Pick<RealtimeCallOptions, 'prepared' | 'recording' | 'around'> & {
    /** Reads the record of the call once it is over, as for an agent of Retell. */
    readonly record?: () => Promise<ProductionCall>;
  };

export type PipecatCallOptions = Pick<PipecatSessionOptions, 'fault' | 'responseMs' | 'onAnswer'> &
  Pick<RealtimeCallOptions, 'prepared' | 'recording'>;

/** What the calls of both protocols, in process and over sockets, differ in. */
interface Execution {
  readonly recording?: RecordingSink | undefined;
  readonly firstSpeaker?: 'caller' | null | undefined;
  readonly clock?: Clock;
  readonly model?: LanguageModel | undefined;
  readonly takeReports?: TakeReports | undefined;
  readonly interrupts?: boolean | undefined;
  readonly recogniser?: Recogniser | undefined;
  readonly areWordsLate?: boolean | undefined;
  readonly speech?: SpeechEngine | undefined;
  readonly onSynthesised?: RealtimeCallOptions['onSynthesised'];
}

const asItIs = (agent: InProcessMediaAgentFactory): InProcessMediaAgentFactory => agent;

/** Calls of the reference agent with the embedded voices: in this process on virtual time, or over sockets. */
export class VoiceCalls {
  private readonly engine = new FliteEngine();
  private readonly speech = new CachedSpeech(this.engine, { folder: path.join(tmpdir(), 'reference-agent-speech') });
  private readonly client = new OutboundClient({ allowedNetworks: ['127.0.0.0/8', '::1/128'] });
  private prepared: PreparedVoice | undefined;
  private babble: Promise<Int16Array> | undefined;

  /** What synthesises all voices of the calls. */
  get synthesiser(): SpeechEngine {
    return this.speech;
  }

  async prepare(): Promise<PreparedVoice> {
    this.prepared ??= await prepareVoice({ speech: this.speech, today: TODAY });
    return this.prepared;
  }

  /** An agent for other callers, or with faults in its words. */
  prepareFor(lines: readonly CallerLine[], faults: readonly FaultName[]): Promise<PreparedVoice> {
    return prepareVoice({ speech: this.speech, today: TODAY, lines, faults });
  }

  /** @param voice of the caller */
  call(evaluation: EvaluationInput, voice: string, options: TestCallOptions = {}): Promise<CallResult> {
    const { prepared = this.prepared } = options;
    if (!prepared) throw new Error('prepare() was not called');
    const { stalls, recording, recogniser, model, areWordsLate, takeReports, speech, ...rest } = options;
    const { around = asItIs, ...agent } = rest;
    const stream = { accountSid: sid('AC', '0'), callSid: sid('CA', '1'), streamSid: sid('MZ', '2') };
    const transport = virtualCalls({
      wire: twilioWire({ ...stream, customParameters: {}, secrets: [] }),
      agent: around((socket) => new TwilioAgentSession(socket, { ...agent, ...prepared, today: TODAY })),
      ...(stalls && { stalls }),
    });
    return this.execute(evaluation, voice, transport, {
      ...{ recording, recogniser, model, areWordsLate, takeReports, speech },
      ...((recogniser ?? speech) && { clock: new VirtualClock() }),
    });
  }

  /** The same with the agent as a Realtime server. */
  callRealtime(evaluation: EvaluationInput, voice: string, options: RealtimeCallOptions = {}): Promise<CallResult> {
    const { prepared = this.prepared } = options;
    if (!prepared) throw new Error('prepare() was not called');
    const { recording, session, isWide = false, firstSpeaker, model, interrupts, takeReports, ...rest } = options;
    const { around = asItIs, onSynthesised, ...agent } = rest;
    const { oneWayMs = 0 } = agent;
    const format = isWide ? { type: 'audio/pcm', rate: 24_000 } : { type: 'audio/pcmu' };
    const audio = { input: { format, transcription: { model: 'any' } }, output: { format } };
    const greets = firstSpeaker !== 'caller';
    const state = { session: { type: 'realtime', audio, ...session }, flat: {}, greets, secrets: [] };
    const answering: InProcessMediaAgentFactory = (socket) =>
      new RealtimeAgentSession(socket, { ...agent, ...prepared, today: TODAY });
    const transport = virtualCalls({
      wire: realtimeWire(state),
      lineRate: isWide ? 24_000 : 8_000,
      agent: around(oneWayMs > 0 ? delayed(oneWayMs, answering) : answering),
    });
    return this.execute(evaluation, voice, transport, {
      ...{ recording, firstSpeaker, model, interrupts, onSynthesised, takeReports, clock: new VirtualClock() },
    });
  }

  /** The same with the agent as one of ElevenLabs. */
  callElevenLabs(evaluation: EvaluationInput, voice: string, options: ElevenLabsCallOptions = {}): Promise<CallResult> {
    const { prepared = this.prepared } = options;
    if (!prepared) throw new Error('prepare() was not called');
    const { recording, isTelephone = false, around = asItIs, ...agent } = options;
    const initiation = { type: 'conversation_initiation_client_data' };
    const transport = virtualCalls({
      wire: elevenlabsWire({ initiation, sendsActivity: true, signature: [], secrets: [] }),
      lineRate: isTelephone ? 8_000 : 16_000,
      agent: around((socket) => new ElevenLabsAgentSession(socket, { ...agent, ...prepared, today: TODAY })),
    });
    return this.execute(evaluation, voice, transport, { recording, clock: new VirtualClock() });
  }

  /** The same with the agent as an assistant of Vapi. */
  callVapi(evaluation: EvaluationInput, voice: string, options: VapiCallOptions = {}): Promise<CallResult> {
    const { prepared = this.prepared } = options;
    if (!prepared) throw new Error('prepare() was not called');
    const { recording, isTelephone = false, around = asItIs, ...agent } = options;
    const lineRate = isTelephone ? 8_000 : 16_000;
    const format = { encoding: isTelephone ? 'mulaw' : 'pcm16', rate: lineRate } as const;
    const transport = virtualCalls({
      ...{ wire: vapiWire({ format, addresses: [], secrets: [] }), lineRate },
      agent: around(
        (socket) =>
          new VapiAgentSession(socket, {
            ...{ ...agent, ...prepared, today: TODAY, format: isTelephone ? 'mulaw' : 'pcm_s16le' },
          }),
      ),
    });
    return this.execute(evaluation, voice, transport, { recording, clock: new VirtualClock() });
  }

  /** The same with the agent as a bot of Pipecat. */
  callPipecat(evaluation: EvaluationInput, voice: string, options: PipecatCallOptions = {}): Promise<CallResult> {
    const { prepared = this.prepared } = options;
    if (!prepared) throw new Error('prepare() was not called');
    const { recording, ...agent } = options;
    const mockedTools = (evaluation.toolResults ?? []).map(({ tool }) => tool);
    const transport = virtualCalls({
      wire: pipecatWire({
        ...{ rate: 16_000, speaksRtvi: true, showsTools: true, mockedTools, addresses: [], secrets: [] },
      }),
      lineRate: 24_000,
      agent: (socket) => new PipecatAgentSession(socket, { ...agent, ...prepared, today: TODAY }),
    });
    return this.execute(evaluation, voice, transport, { recording, clock: new VirtualClock() });
  }

  /** The same with the agent behind SIP. */
  callSip(evaluation: EvaluationInput, voice: string, options: SipCallOptions = {}): Promise<CallResult> {
    const { prepared = this.prepared } = options;
    if (!prepared) throw new Error('prepare() was not called');
    const { recording, around = asItIs, record, ...agent } = options;
    const media = { codec: 'PCMU', payloadType: 0, eventPayloadType: 101 } as const;
    const transport = virtualCalls({
      wire: sipWire({ answeredAt: null, media, messages: [], isTest: false, secrets: [] }),
      clock: 'line',
      agent: around((socket) => new SipAgentSession(socket, { ...agent, ...prepared, today: TODAY })),
    });
    const { call } = transport;
    const recorded = record && {
      call: async (one: VoiceCallOptions) => withRecord(await call(one), await record(), false),
    };
    return this.execute(evaluation, voice, { ...transport, ...recorded }, { recording });
  }

  /** Calls an agent over sockets, in real time. @param url of its webhook @param more for another protocol */
  callOver(
    url: string,
    evaluation: EvaluationInput,
    voice: string,
    recording?: RecordingSink,
    { assistantId = 'booking', ...more }: Partial<AgentEndpoint> & { readonly assistantId?: string } = {},
  ): Promise<CallResult> {
    const common = { headers: {}, firstSpeaker: null, options: {}, apiKey: 'not-checked' };
    const transport = transportTo(
      { protocol: 'twilio-media-streams', url, ...common, ...more },
      {
        ...{ client: this.client, assistantId, phoneNumber: '+15550100142', workspaceId: 'w-1', callId: randomUUID() },
        mockedTools: (evaluation.toolResults ?? []).map(({ tool }) => tool),
      },
    );
    if (!('call' in transport)) throw new Error('not a transport for voice calls');
    const firstSpeaker = more.firstSpeaker === 'caller' ? 'caller' : null;
    return this.execute(evaluation, voice, transport, { recording, firstSpeaker });
  }

  close(): Promise<void> {
    return this.engine.close();
  }

  private async execute(
    evaluation: EvaluationInput,
    voice: string,
    transport: VoiceTransport,
    execution: Execution = {},
  ): Promise<CallResult> {
    const { recording, firstSpeaker = null, clock, model, interrupts = false, onSynthesised } = execution;
    const { recogniser, areWordsLate, takeReports, speech = this.speech } = execution;
    if (evaluation.conditions?.noise?.type === 'babble') this.babble ??= babbleLoop(this.speech);
    return executeCall({
      definition: normalise(evaluation),
      scenario: { scenarioText: evaluation.scenarioText },
      personality: { name: 'Caller' },
      transport,
      ...(clock && { clock }),
      ...(model && { model }),
      ...(takeReports && { takeReports }),
      voice: {
        sounds: {
          synthesise: async (request, signal) => {
            const sound = await speech.synthesise(request, signal);
            onSynthesised?.(request.text, sound.pcm);
            return sound;
          },
          soundOf,
        },
        voice,
        firstSpeaker,
        interrupts,
        ...(this.babble && { babble: await this.babble }),
        ...(recording && { recording }),
        ...(recogniser && { transcription: transcriptionBy(recogniser, clock, areWordsLate) }),
      },
    });
  }
}

/** On a virtual clock the recogniser takes no time. @param isLate its words are there, and kept until they are not awaited */
const transcriptionBy = (recogniser: Recogniser, clock?: Clock, isLate = false) => ({
  recogniser: clock
    ? {
        transcribe: async (request: TranscriptionRequest) => {
          const heard = await clock.awaitExternal(recogniser.transcribe(request));
          if (isLate && request.signal) await once(request.signal, 'abort');
          return heard;
        },
      }
    : recogniser,
  ...{ mode: 'auto' as const, model: null, needed: true },
});
