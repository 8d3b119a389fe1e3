import type { ToolResult } from '../../../evaluation-definition/index.js';
import type { OutboundClient } from '../../../outbound-http/index.js';
import type { JsonValue } from '../../timeline/text.js';

/** Name of a protocol, as settings and connections use it: one that the registry has. */
export type ProtocolName = string;

export const FIRST_SPEAKERS = ['caller', 'agent'] as const;
/** Which side says the first words of a call. */
export type FirstSpeaker = (typeof FIRST_SPEAKERS)[number];

/** How a telephone call is made, beside the `sip:` address that it dials, which is the `url` of the endpoint. */
export interface TelephoneLine {
  /** For the digest of the address's own host; absent if it asks for none. */
  readonly credentials?: { readonly user: string; readonly password: string };
  /** User part of our address: the number that the other side sees; absent for a random one. */
  readonly caller?: string;
  readonly media?: {
    /** Address at which media reaches this process, if that is not its own (`SIP_PUBLIC_ADDRESS`). */
    readonly publicAddress?: string;
    /** UDP ports for media, first and last one (`SIP_MEDIA_PORTS`); absent for those that the system chooses. */
    readonly ports?: { readonly first: number; readonly last: number };
  };
}

/** Where an agent is reached, and with which credentials. */
export interface AgentEndpoint {
  readonly protocol: ProtocolName;
  /** With the optional placeholders `{assistantId}`, `{phoneNumber}` and `{callId}`. */
  readonly url: string;
  /** What results show instead of the URL, such as the name of its setting. */
  readonly shownUrl?: string;
  /** With lower-case names; secret. */
  readonly headers: Readonly<Record<string, string>>;
  /** Null: the protocol's default. */
  readonly firstSpeaker: FirstSpeaker | null;
  /** Those of the protocol's table, secret ones included. */
  readonly options: Readonly<Record<string, unknown>>;
  readonly apiKey?: string;
  /** Of protocols that dial `sip:` addresses. */
  readonly line?: TelephoneLine;
  /** The platform's id of the number from which the agent calls. */
  readonly phoneNumberId?: string | null;
}

/** Where a platform that bills reports its call, so that it can be ended if this process dies. */
export interface CallLedger {
  /**
   * The platform carries the call from now on. Await it before the socket is opened: then it is stored.
   * @param handle what `end` of the module needs
   * @param id as the records of the platform show the call
   * @throws if the call must not go on
   */
  placed(handle: JsonValue, id?: string): Promise<void>;
  /** The id as the records of the platform show the call, if it says it later than `placed`. Never rejects. */
  identified(id: string): Promise<void>;
  /** The platform's own figure of the time that is billed. */
  paid(seconds: number): Promise<void>;
}

/** An account of a trunk, on which agents that call out reach the tester. */
export interface SipAccount {
  /** The registrar: `sip:host;transport=tls`. */
  readonly trunk: string;
  readonly user: string;
  readonly password: string;
  /** E.164, as the agent dials it. */
  readonly number: string;
}

/** Where an agent that calls out (`OUTBOUND`) reaches the tester: no other call is expected there. */
export interface AnsweringNumber {
  readonly account: SipAccount;
  /** Writes for how many milliseconds its call may come, also if this process dies; 0: none is on its way. */
  expect(ms: number): Promise<void>;
}

/** What distinguishes one call from other calls of the same agent. */
export interface AgentCall {
  readonly client: OutboundClient;
  /** What agents of other workspaces send is read in other threads. */
  readonly workspaceId: string;
  readonly assistantId: string;
  readonly phoneNumber: string;
  /** New for each attempt. */
  readonly callId: string;
  /** Whether a voice call gets a thread of its own, because it may have ended those in which it ran before. */
  readonly isSuspect?: boolean;
  /**
   * Dynamic variables for the platform: those of the connection's option `variables`, above them those of the evaluation and
   * then of the run; absent for those of the option.
   */
  readonly variables?: Readonly<Record<string, string | number | boolean>>;
  /** Version of the agent that the platform is asked for; absent for its own choice. */
  readonly assistantVersion?: string;
  /** Names of the tools for which the evaluation has results. */
  readonly mockedTools?: readonly string[];
  /** Those results, for platforms that give them to the agent in place of running its tools. */
  readonly toolResults?: readonly ToolResult[];
  /** Present if the agent calls the tester, over a protocol that supports it (`calledBy` of its module). */
  readonly answersAt?: AnsweringNumber;
  /** Present in calls over a protocol that bills. */
  readonly ledger?: CallLedger;
}

/** A request to a platform about a call that this process may not have made. */
export interface PlatformRequest {
  /** How the agent is reached now. */
  readonly endpoint: AgentEndpoint;
  readonly client: OutboundClient;
  readonly signal: AbortSignal;
}
