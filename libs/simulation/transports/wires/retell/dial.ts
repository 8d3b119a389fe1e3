import { addressText } from '../../../../sip/index.js';
import type { AgentCall, AgentEndpoint } from '../../modules/endpoint.js';
import type { DialOptions, WireSession } from '../../modules/module.js';
import { ownRecord } from '../own-record.js';
import { SipSession, type SipTarget } from '../sip/dial.js';
import { inviteHeaders } from '../sip/options.js';
import type { SipState } from '../sip/state.js';
import { cureOf, RetellApi } from '../retell-api/api.js';
import { sipServerOf } from './options.js';
import { retellRecords } from '../retell-api/records.js';
import { textVariables } from './variables.js';

/** An id that is the user of an address as it is, and never a telephone number. */
const ID = /^(?=.*[a-z])[\w-]{1,128}$/i;
/** Reached by the API; those that follow are of the SIP server. */
const API_STEPS: ReadonlySet<string> = new Set(['resolved', 'connected', 'secured', 'accepted']);

/** One voice call: it is registered with the key, and its id, which permits to call the agent once, is dialled over SIP. */
export function retellSession(endpoint: AgentEndpoint, call: AgentCall): WireSession<SipState> {
  const { shownUrl: _ofApi, ...reached } = endpoint;
  const { ledger } = call;
  const server = sipServerOf(endpoint.options);
  const api = RetellApi.of(endpoint, call);
  let id: string | undefined;
  const findTarget = async ({ signal, onStep }: DialOptions): Promise<SipTarget> => {
    await api.requireFreeCall({ signal, onStep });
    const asked = { method: 'POST', body: bodyOf(endpoint, call), signal, onStep } as const;
    const { call_id: given } = await api.object('/v2/register-phone-call', asked);
    if (typeof given !== 'string' || !ID.test(given)) throw api.notUnderstood('its answer has no call_id to dial');
    id = given;
    onStep('accepted');
    return { url: addressText({ ...server, user: given }), headers: inviteHeaders({}, {}, call.callId) };
  };
  const sip = new SipSession(
    { ...reached, url: addressText(server) },
    // Its own records show the call by this id, and not by that of SIP.
    ledger ? { ...call, ledger: { ...ledger, placed: (handle) => ledger.placed(handle, id) } } : call,
    findTarget,
  );
  return {
    agent: sip.agent,
    secrets: sip.secrets,
    skippedSteps: sip.skippedSteps,
    cure: (step, failure) =>
      API_STEPS.has(step) ? cureOf(failure) : (sipCure(step, failure.code) ?? sip.cure(step, failure)),
    dial: (options) => sip.dial(options),
    hangUp: () => sip.hangUp(),
    recorded: (signal) => ownRecord(retellRecords, endpoint, call, signal, id),
  };
}

function bodyOf(endpoint: AgentEndpoint, call: AgentCall): object {
  const { assistantId, assistantVersion: version, callId } = call;
  return {
    agent_id: assistantId,
    ...(version !== undefined && { agent_version: /^\d{1,9}$/.test(version) ? Number(version) : version }),
    direction: 'inbound',
    metadata: { 'vat-call': callId },
    retell_llm_dynamic_variables: textVariables(endpoint, call),
  };
}

const sipCure = (step: string, code: string): string | undefined =>
  step === 'ready' && code === 'platform_refused'
    ? 'Check the option sipServer: its server does not know the call that was registered a moment before at the url.'
    : undefined;
