import { Inject, Injectable } from '@nestjs/common';
import { OutboundClient } from '../../../../libs/outbound-http/index.js';
import { type AgentEndpoint, agentUrl, PROTOCOLS, type TelephoneLine } from '../../../../libs/simulation/index.js';
import { addressText, numberOf, parseSipAddress } from '../../../../libs/sip/index.js';
import { NumberRules } from '../../../../libs/telephone-numbers/index.js';
import type { AgentProvider } from '../../../platform/config/agent-providers.js';
import { SETTINGS } from '../../../platform/config/settings.module.js';
import type { Settings } from '../../../platform/config/settings.js';
import { httpAddressOf, isSipAddress, originOf, sipViolation } from '../../../platform/agent-address.js';
import { callsTester } from '../../capacity/numbers.service.js';
import type { CalledEndpoint } from './called-endpoint.js';

/** The address of an agent that is called by its `phoneNumber` and the trunk of its provider. */
export const BY_NUMBER = '{phoneNumber}';

/** Whose call it is, and the number that its evaluation has. */
export interface CallToNumber {
  readonly assistantId: string;
  /** Of the agent: one that calls the tester is not dialled. */
  readonly type?: string | null;
  /** Of the evaluation; that of the agent in the test of a connection. */
  readonly phoneNumber: string;
  readonly callId: string;
}

/** What a call dials. */
export interface Dialled {
  readonly endpoint: AgentEndpoint;
  /** The telephone number that rings; absent for a name at a platform. */
  readonly number?: string;
  /** Whether the evaluation names it in place of the address of the agent. */
  readonly isOther: boolean;
  /** Which trunk carries it; absent without one. */
  readonly trunk?: string;
}

type Reached = Pick<CalledEndpoint, 'url' | 'shownUrl' | 'number' | 'line'>;

/** Why nothing is dialled: a sentence without full stop. */
export interface DiallingRefusal {
  readonly refusal: string;
}

/** Which addresses and numbers calls over SIP dial. */
@Injectable()
export class DiallingService {
  private readonly rules: NumberRules;

  constructor(
    private readonly outbound: OutboundClient,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {
    this.rules = new NumberRules(settings.telephone.allowedPrefixes);
  }

  /** Where an address leads: itself or, for a number, the trunk of the provider; undefined if there is none. */
  reach(provider: AgentProvider, url: string): Reached | undefined {
    return isByNumber(url) ? this.byTrunk(provider, url) : { url, line: this.line };
  }

  /** Where the trunk of a provider takes calls to a number, and as who; undefined without a trunk. */
  private byTrunk(provider: AgentProvider, number: string): Reached | undefined {
    const { sipTrunk } = this.settings.agentProviders[provider];
    if (!sipTrunk) return undefined;
    const { address, credentials, caller } = sipTrunk;
    return {
      url: addressText({ ...parseSipAddress(address), user: number }),
      shownUrl: `${provider}_SIP_TRUNK`,
      number,
      line: { ...this.line, ...(credentials && { credentials }), ...(caller !== undefined && { caller }) },
    };
  }

  /** What all calls over SIP have in common. */
  private get line(): TelephoneLine {
    return { media: this.settings.telephone.media };
  }

  /** @returns the endpoint itself if its protocol dials nothing */
  dial(endpoint: CalledEndpoint, call: CallToNumber): Dialled | DiallingRefusal {
    const { protocol } = endpoint;
    if (!isDialled(protocol) || callsTester(call.type ?? null, protocol)) return { endpoint, isOther: false };
    const { url, number } = endpoint;
    const given = call.phoneNumber.trim();
    const isOther = given !== '' && given !== endpoint.ownNumber?.trim();
    const isInstead = isOther && (isSipAddress(given) || !url.includes(BY_NUMBER));
    const whose = isOther ? 'vendorCallPhoneNumber' : 'the address of the agent';
    const target = isInstead ? given : number?.replace(BY_NUMBER, given);
    const dialled =
      given === '' && url.includes(BY_NUMBER)
        ? 'is its phoneNumber, and it has none'
        : target === undefined
          ? this.address(endpoint, agentUrl(url, call))
          : isSipAddress(target)
            ? this.address({ ...withoutSecrets(endpoint), line: this.line }, agentUrl(target, call))
            : this.number(endpoint, target);
    return typeof dialled === 'string' ? { refusal: `${whose} ${dialled}` } : { ...dialled, isOther };
  }

  /** @returns what is wrong with it, as the rest of a sentence */
  private address(endpoint: AgentEndpoint, url: string): Omit<Dialled, 'isOther'> | string {
    const violation = sipViolation(url);
    if (violation !== undefined) return violation;
    if (this.outbound.check(httpAddressOf(url)) !== undefined) return NOT_ALLOWED;
    const number = numberOf(parseSipAddress(url).user ?? '');
    if (number === undefined) return { endpoint: { ...endpoint, url } };
    const checked = this.rules.check(number, false);
    return 'violation' in checked ? checked.violation : { endpoint: { ...endpoint, url }, number };
  }

  private number(endpoint: CalledEndpoint, text: string): Omit<Dialled, 'isOther'> | string {
    const { provider } = endpoint;
    // As people write it: +49 (0)30 123-456.
    const checked = this.rules.check(text.replace(/[\s\-.()/]/g, ''), true);
    if ('violation' in checked) return checked.violation;
    const line = this.byTrunk(provider, checked.number);
    if (!line) return withoutTrunk(provider);
    if (this.outbound.check(httpAddressOf(line.url)) !== undefined) return NOT_ALLOWED;
    const own = endpoint.number === undefined ? withoutSecrets(endpoint) : endpoint;
    const trunk = `${originOf(line.url)} ${line.line?.credentials?.user ?? ''}`;
    return { endpoint: { ...own, ...line }, number: checked.number, trunk };
  }
}

const NOT_ALLOWED = 'leads to a private or reserved network that OUTBOUND_ALLOWED_NETWORKS does not allow';

/** Whether calls over a protocol dial addresses of SIP. */
export const isDialled = (protocol: string): boolean => PROTOCOLS.of(protocol).schemes.includes('sip:');

/** About a number, as the rest of a sentence. */
export const withoutTrunk = (provider: AgentProvider): string =>
  `must not be a telephone number, or left out, because ${provider}_SIP_TRUNK is not set`;

/** Whether an address is a telephone number, or that of each agent. */
const isByNumber = (url: string): boolean => url === BY_NUMBER || /^\+\d{8,15}$/.test(url);

/** What other hosts than that of the connection may get of it. The apiKey is sent to that of an option, and not to them. */
function withoutSecrets({ headers: _headers, apiKey, shownUrl: _shown, ...endpoint }: CalledEndpoint): CalledEndpoint {
  const known = PROTOCOLS.of(endpoint.protocol).options;
  const kept = Object.entries(endpoint.options).filter(([name]) => !known[name]?.isSecret);
  const isKeyUsed = kept.some(([name, value]) => known[name]?.receivesSecrets?.(value) !== undefined);
  const key = isKeyUsed && apiKey !== undefined && { apiKey };
  return { ...endpoint, options: Object.fromEntries(kept), headers: {}, ...key };
}
