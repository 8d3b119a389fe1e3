import { setTimeout as sleep } from 'node:timers/promises';
import {
  type IncomingCall,
  parseSipAddress,
  type SipConnect,
  SipEndpoint,
  type SipFailure,
} from '../../../../../sip/index.js';
import { CallFailure } from '../../../../timeline/failure.js';
import type { AgentCall, AgentEndpoint, AnsweringNumber } from '../../../modules/endpoint.js';
import { blocked } from '../../vapi/refusals.js';
import { ExpectedCall } from './expected-call.js';
import { Trigger, type Triggered } from './triggers.js';

/** How long the agent's call is waited for. */
const EXPECTED_MS = 120_000;
/** Nor is anything else expected at its number until so long after that. */
const LATE_MS = 30_000;
/** For the question why no call came. */
const QUESTION_MS = 5_000;

export interface CalledBackOptions {
  readonly connect: SipConnect;
  readonly userAgent: string;
  readonly srtp?: boolean;
  readonly trace?: (direction: 'sent' | 'received', text: string) => void;
  readonly signal: AbortSignal;
  /** What a failure of the trunk means. */
  readonly failed: (failure: SipFailure) => CallFailure;
  /** Default: 120 s. */
  readonly expectedMs?: number;
}

/** A call of the agent that has come, and rings. */
export interface CalledBack {
  readonly incoming: IncomingCall;
  readonly endpoint: SipEndpoint;
  readonly triggered: Triggered;
  /** When the call is over: unregisters, and closes the connection. */
  end(): Promise<void>;
}

/**
 * Registers at the trunk, asks the agent to call, and waits for its call.
 * @throws CallFailure, `no_call_came` among them; the signal's reason
 */
export async function calledBack(
  agent: AgentEndpoint,
  call: AgentCall & { readonly answersAt: AnsweringNumber },
  options: CalledBackOptions,
): Promise<CalledBack> {
  const { account } = call.answersAt;
  const { signal } = options;
  const trigger = new Trigger(agent, call.client);
  const { user, password, trunk, number } = account;
  const address = parseSipAddress(trunk);
  const { connect, userAgent, trace } = options;
  const opening = { connect, address, credentials: { user, password }, userAgent, ...(trace && { trace }) };
  const endpoint = await SipEndpoint.open(opening);
  // Trunks may call the number and not our Contact (juha-h/baresip-studio#654, Telnyx).
  endpoint.alias = number;
  await endpoint.learnContact();
  const caller = { account: user, from: call.phoneNumber, srtp: options.srtp === true };
  const expected = await ExpectedCall.open(endpoint, caller);
  if (!(expected instanceof ExpectedCall)) {
    endpoint.close();
    throw options.failed(expected);
  }
  try {
    signal.throwIfAborted();
    await call.answersAt.expect(EXPECTED_MS + LATE_MS);
    const triggered = await trigger.send(call, number, signal).catch(async (error: unknown) => {
      if (!signal.aborted) await call.answersAt.expect(0);
      throw error;
    });
    await call.ledger?.placed(
      { triggered: triggered.handle, credentials: { user, password } },
      triggered.id ?? undefined,
    );
    if (triggered.isBusy === true) throw new CallFailure(blocked(trigger.api.platform));
    const incoming = await within(expected.came, options.expectedMs ?? EXPECTED_MS, signal);
    if (incoming === undefined) throw await nothingCame(trigger, triggered, expected);
    if ('failure' in incoming) throw options.failed(incoming);
    await call.answersAt.expect(0);
    return { incoming, endpoint, triggered, end: () => expected.end() };
  } catch (error) {
    await expected.end();
    throw error;
  }
}

/** The call, or a failure of the trunk; undefined if neither came in time. @throws the signal's reason */
async function within(came: Promise<IncomingCall>, ms: number, signal: AbortSignal) {
  const late = sleep(ms, undefined, { signal, ref: false }).catch(() => signal.throwIfAborted());
  return Promise.race([came.catch((failure: SipFailure) => failure), late]);
}

async function nothingCame(trigger: Trigger, triggered: Triggered, { strays }: ExpectedCall): Promise<CallFailure> {
  const said = await trigger.endedBecause(triggered, AbortSignal.timeout(QUESTION_MS));
  const others =
    strays.length === 0 ? [] : [`calls from ${[...new Set(strays)].join(', ')} are not of its phoneNumber`];
  const lost = triggered.lost === undefined ? [] : [`the answer to the request was lost: ${triggered.lost.message}`];
  const what = [...others, ...lost].join('; ');
  return trigger.api.failure('no_call_came', { ...(what !== '' && { what }), ...(said !== undefined && { said }) });
}
