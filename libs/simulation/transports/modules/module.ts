import type { LineRate } from '../../../audio/index.js';
import type { ToolResult } from '../../../evaluation-definition/index.js';
import type { Transport } from '../../conversation/transport.js';
import type { OtherSide } from '../../other-side/other-side.js';
import type { SentSecrets } from '../../other-side/secrets.js';
import type { PortRange } from '../../../rtp/index.js';
import type { Failure } from '../../timeline/failure.js';
import type { JsonValue } from '../../timeline/text.js';
import type { PlatformEvent, VoiceFacts, WireFinding } from '../../voice/facts/facts.js';
import type { VoiceMeasures } from '../../voice/facts/results.js';
import type { KnownFindings } from '../../voice/wire/known-finding.js';
import type { CallSignal, DatagramTarget } from '../../voice/wire/signalling.js';
import type { VoiceCallOptions } from '../../voice/wire/voice-transport.js';
import type { WireState } from '../../voice/wire/wire.js';
import type { ListAssistants } from './assistants.js';
import type { AgentCall, AgentEndpoint, FirstSpeaker, PlatformRequest, ProtocolName } from './endpoint.js';
import type { ProductionCall, Records } from './records.js';

export interface ProtocolOption {
  /** Encrypted where it is stored, and never shown. */
  readonly isSecret: boolean;
  /**
   * Present if it names a host that gets the secrets of the connection, beside that of its url: a protocol of the platform that
   * a value names, undefined for another host, which gets no apiKey.
   */
  readonly receivesSecrets?: (value: unknown) => ProtocolName | undefined;
  /** For the API documentation: what it does, as the rest of a sentence that begins with its name. */
  readonly description: string;
  /** What is wrong with a value, as the rest of a sentence about the option; undefined if nothing is. */
  readonly violation: (value: unknown) => string | undefined;
}

/** What a platform can report of the agent by itself. */
export interface Provides {
  /** What the agent says. */
  readonly words: boolean;
  /** `seen`: the platform runs the agent's tools; `answered`: it waits for the tester's results. */
  readonly toolCalls: 'none' | 'seen' | 'answered';
  /** Whether it transmits keys of the caller. */
  readonly keys: boolean;
}

/**
 * The version of an agent that the platform uses in calls which ask for this one, in the platform's own terms; null without one.
 * @throws CallFailure if the platform cannot be asked; the signal's reason
 */
export type FindAgentVersion = (
  agent: Pick<AgentCall, 'assistantId' | 'assistantVersion'>,
  request: PlatformRequest,
) => Promise<string | null>;

/** How a platform is reached: what the rest of the service knows of it. */
export interface ModuleBase {
  readonly name: string;
  /** URL of the file that exports it, for the threads that run it. */
  readonly source: string;
  /** In the words of its platform. */
  readonly title: string;
  /** Schemes of its addresses, with colon; `ws:` and `wss:` are those of WebSocket. */
  readonly schemes: readonly string[];
  /** The vendor's address, with placeholders; connections then need none. Has TLS, since credentials are sent there. */
  readonly defaultUrl?: string;
  /** The same platform's protocol for the other medium. */
  readonly twin?: string;
  /** Its calls cost money as long as they are open: they use capacity, and stay in the record of paid calls until they have ended. */
  readonly bills?: boolean;
  /** What its platform takes of an evaluation or a run; nothing unless it says so. */
  readonly takes?: {
    readonly variables?: boolean;
    /** Schemes of the addresses over which it takes them; absent: all of its own. */
    readonly variableSchemes?: readonly string[];
    /** Why it does not take a variable, as the rest of a sentence about it; undefined if it does. */
    readonly variableFault?: (name: string, value: string | number | boolean) => string | undefined;
    /** What names of variables begin with that the platform sets itself. */
    readonly ownVariables?: string;
    readonly assistantVersion?: boolean;
    /** The conversation before the call. */
    readonly history?: boolean;
  };
  /**
   * Agents of type OUTBOUND call the tester: which field of the agent a connection with these options needs, beside its
   * `phoneNumber`; undefined if they do not say how it is asked to call. Absent: it is called as if the tester had answered.
   */
  readonly calledBy?: (options: AgentEndpoint['options']) => 'phoneNumber' | 'phoneNumberId' | undefined;
  /** Whether it runs tools of the agent itself, so that they have real effects, beside those that `provides` speaks of. */
  readonly runsTools?: boolean;
  /** Whether it does not run those for which the evaluation has results. */
  readonly mocksTools?: (options: AgentEndpoint['options']) => boolean;
  /** Fields of `toolResults` that it cannot follow: with them the tools would run for real. */
  readonly lackingInMocks?: readonly (keyof ToolResult)[];
  /** Whether its mocks have results of their own, so that `toolResults` apply to other tools only. */
  readonly hasOwnMocks?: boolean;
  /** Ends a call that may be open. That it has ended already does not matter. @throws if the platform could not be asked */
  readonly end?: (handle: JsonValue, request: PlatformRequest) => Promise<void>;
  /** Handle of the call of an attempt (`AgentCall.callId`); null if the platform has none. @throws as `end` does */
  readonly find?: (attemptId: string, request: PlatformRequest) => Promise<JsonValue | null>;
  /** Null: whichever side speaks. */
  readonly firstSpeaker: FirstSpeaker | null;
  readonly provides: Provides;
  /** The same with the options of a connection, for platforms whose agents do not always report everything. */
  readonly providedWith?: (options: AgentEndpoint['options']) => Provides;
  readonly options: Readonly<Record<string, ProtocolOption>>;
  /** Headers in lower case that the protocol itself sends. */
  readonly reservedHeaders: readonly string[];
  /** What a connection test must reach, in order, each with what is said of it when it passed. */
  readonly steps: Readonly<Record<string, string>>;
  /** Absent if the platform has no list of an account's assistants. */
  readonly assistants?: ListAssistants;
  /** Absent if its agents have no versions. */
  readonly agentVersion?: FindAgentVersion;
  /** Absent if the platform keeps no records of calls that can be read. */
  readonly records?: Records;
}

/** A protocol of text that takes turns. */
export interface TextModule extends ModuleBase {
  readonly medium: 'text';
  readonly transport: (endpoint: AgentEndpoint, call: AgentCall) => Transport;
  /** What to do about a failed step of the connection test; undefined for the general advice. */
  readonly cure?: (failure: Failure) => string | undefined;
}

/**
 * A protocol of voice calls: `session` in a request thread (HTTP, signatures, addresses), `entry` in a media thread (messages
 * and audio).
 */
export interface WireModule<State extends WireState = WireState> extends ModuleBase {
  readonly medium: 'voice';
  /** On which clock its calls are measured. */
  readonly clock: VoiceMeasures['clock'];
  readonly findings: KnownFindings;
  /** Rate of the call's line: of the caller's audio, the recording and the measures. */
  readonly lineRate: (options: AgentEndpoint['options']) => LineRate;
  /** Its `wire.ts`, a module whose default export is a `WireEntry`. */
  readonly entry: URL;
  readonly session: (endpoint: AgentEndpoint, call: AgentCall) => WireSession<State>;
}

export type ProtocolModule = TextModule | WireModule;
export type Medium = ProtocolModule['medium'];

/** What is found beside the audio. */
export interface Found {
  readonly findings: readonly WireFinding[];
  /** What the agent asked of its platform. */
  readonly events: readonly PlatformEvent[];
  /** How the call ended after its stream; absent if with it. */
  readonly end?: VoiceFacts['end'];
}

export interface DialOptions extends Pick<VoiceCallOptions, 'signal' | 'speak'> {
  /** A step of the connection test was reached. */
  readonly onStep: (step: string) => void;
  /** How long the call may last from the answer, in milliseconds; unlimited without. */
  readonly maxMs?: number;
  /** Binds UDP ports of the media thread at an address of this machine. @returns the even one, for RTP */
  readonly bindMedia?: (address: string, range?: PortRange) => Promise<number>;
  /** Reports what is signalled from then on. */
  readonly onSignal?: (signal: CallSignal) => void;
  /** Present in a connection test. */
  readonly isTest?: true;
}

/** The WebSocket of a call. */
export interface DialledSocket {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** What failures show as its address. */
  readonly shownUrl: string;
}

/** A call that is ready to be connected, by one of `socket` and `media`. */
export interface Dialled<State extends WireState = WireState> {
  readonly socket?: DialledSocket;
  /** The packets of a call that was answered; its ports were bound by `bindMedia`. */
  readonly media?: DatagramTarget;
  readonly state: State;
  /** The answer, on the clock of `performance`; absent if it is the start of the stream. */
  readonly answeredAt?: number;
  /** What the platform said for the agent before the stream, at the line's rate; times in milliseconds from the answer. */
  readonly sounds: readonly { readonly atMs: number; readonly pcm: Int16Array }[];
  readonly found: Found;
  /** What `streamAddress` and `cure` need of the stream: plain data. */
  readonly stream?: unknown;
}

/** The requests of one call. */
export interface WireSession<State extends WireState = WireState> {
  /** How failures describe the platform: its address and what it said, without secrets. */
  readonly agent: OtherSide;
  readonly secrets: SentSecrets;
  /** Steps of the connection test that this address does not have, and why. */
  readonly skippedSteps: Readonly<Record<string, string>>;
  /** That of `Dialled`. */
  stream?: unknown;
  /** Whether no request precedes or follows the connection. */
  readonly isDirect?: boolean;
  /** What the stream dials, if another document than the connection names it: as failures show it. */
  readonly streamAddress?: string | undefined;
  /** @throws CallFailure; the signal's reason */
  dial(options: DialOptions): Promise<Dialled<State>>;
  /** What the failure of a WebSocket means that belongs to the platform; without it, the agent itself is at its address. */
  refused?(failure: Failure): Failure;
  /** What the agent asks for after it has hung up; the verdict does not wait for it longer than the signal. */
  after?(facts: VoiceFacts, signal: AbortSignal): Promise<Found>;
  /**
   * The call as its platform recorded it, for what the wire does not show, once it has ended.
   * @returns null if the platform has shown no record of it until the signal @throws CallFailure; the signal's reason
   */
  recorded?(signal: AbortSignal): Promise<ProductionCall | null>;
  /** Ends the call where it was dialled, once its media is over or did not begin. Rejects if that could not be done. */
  hangUp?(): Promise<void>;
  /** Further requests of a connection test. @param problem why the test failed */
  probe?(problem: Failure | undefined, signal: AbortSignal): Promise<Probed>;
  /** What to do about a failed step; undefined for the general advice. */
  cure?(step: string, failure: Failure): string | undefined;
  /** Frees what it holds. */
  close?(): void;
}

export interface Probed {
  readonly findings: readonly WireFinding[];
  readonly cure?: string;
}
