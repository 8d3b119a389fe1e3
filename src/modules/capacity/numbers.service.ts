import { Inject, Injectable } from '@nestjs/common';
import {
  type AgentEndpoint,
  type AnsweringNumber,
  PROTOCOLS,
  type SipAccount,
} from '../../../libs/simulation/index.js';
import { SETTINGS } from '../../platform/config/settings.module.js';
import type { Settings } from '../../platform/config/settings.js';
import { isSipAddress, originOf } from '../../platform/agent-address.js';
import { CapacityRepository } from './capacity.repository.js';

/** Whether an agent of this type calls the tester over the protocol, instead of being called. */
export const callsTester = (type: string | null, protocol: string): boolean =>
  type === 'OUTBOUND' && PROTOCOLS.of(protocol).calledBy !== undefined;

/** The numbers at which agents call the tester (`SIP_ACCOUNTS`): each of them has one call at a time. */
@Injectable()
export class NumbersService {
  constructor(
    private readonly repository: CapacityRepository,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  /** Whether agents can call at this address, which is the trunk of accounts. */
  areAt(url: string): boolean {
    return this.accountsAt(url).length > 0;
  }

  /**
   * Leases a number for an attempt that has capacity, as long as that lasts; 30 s later it is free again.
   * @returns undefined if the agent does not call the tester; null if all numbers of the trunk are in use
   */
  async leaseFor(
    { type = null }: { readonly type?: string | null },
    { protocol, url }: Pick<AgentEndpoint, 'protocol' | 'url'>,
    claimId: string,
  ): Promise<AnsweringNumber | undefined | null> {
    if (!callsTester(type, protocol)) return undefined;
    const accounts = this.accountsAt(url);
    const numbers = accounts.map(({ number }) => number);
    const leased = await this.repository.leaseNumber(claimId, numbers);
    const account = accounts.find(({ number }) => number === leased);
    return account ? { account, expect: (ms: number) => this.repository.expectCall(claimId, ms) } : null;
  }

  private accountsAt(url: string): readonly SipAccount[] {
    if (!isSipAddress(url)) return [];
    const trunk = originOf(url);
    return this.settings.sipAccounts.filter((account) => originOf(account.trunk) === trunk);
  }
}
