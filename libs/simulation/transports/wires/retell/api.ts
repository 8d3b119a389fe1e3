import type { Failure } from '../../../timeline/failure.js';
import { type ApiAccount, type ApiRequest, PlatformApi } from '../../http/platform-api.js';
import { type PlatformRules, Refusals } from '../../http/platform-rules.js';
import type { Json } from '../fields.js';

const KEY = 'check the apiKey of the agent, and what it may do';
const AGENT = 'check the assistantId of the agent, and that the apiKey is of the same workspace of Retell';
/** What to do while all calls at once that an account may have are in use. */
export const BUSY = 'wait, or raise the limit of the account on calls at once';
const REFUSALS = new Refusals([], {
  400: 'check the version that the run asks for, and the dynamic variables',
  401: KEY,
  402: 'check the credit and the plan of the account',
  403: KEY,
  404: AGENT,
  422: AGENT,
  429: BUSY,
});

export const RETELL_RULES: PlatformRules = {
  vendorHost: /(^|\.)retellai\.com\.?$/i,
  authorization: (apiKey) => ({ authorization: `Bearer ${apiKey}` }),
  brokenOff: 'stream_cut',
  refused: REFUSALS.refused,
};

/** The API of Retell, whose answers are objects. */
export class RetellApi extends PlatformApi {
  constructor(account: ApiAccount) {
    super(RETELL_RULES, account);
  }

  /** @returns the object of a successful response. @throws CallFailure; the signal's reason */
  async object(path: string, request: ApiRequest): Promise<Json> {
    const said = await this.text(path, request);
    try {
      const value = JSON.parse(said) as unknown;
      if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Json;
    } catch {
      // Described below.
    }
    throw this.failure('bad_response', { what: 'its answer is not a JSON object', said });
  }
}

/** Advice for a connection test. */
export const cureOf = (found: Failure): string | undefined =>
  REFUSALS.cureOf(found, found.code === 'platform_busy' ? BUSY : undefined);
