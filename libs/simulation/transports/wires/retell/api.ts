import { readBody } from '../../../../outbound-http/index.js';
import { CallFailure, type Failure, type FailureCode } from '../../../timeline/failure.js';
import { type ApiAccount, type ApiRequest, PlatformApi } from '../../http/platform-api.js';
import { Refusals } from '../../http/platform-rules.js';
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

/** The API of Retell, whose answers are objects. */
export class RetellApi extends PlatformApi {
  constructor(account: ApiAccount) {
    const rules = {
      vendorHost: /(^|\.)retellai\.com\.?$/i,
      authorization: (apiKey: string) => ({ authorization: `Bearer ${apiKey}` }),
      refused: REFUSALS.refused,
    };
    super(rules, account);
  }

  /** @returns the object of a successful response. @throws CallFailure; the signal's reason */
  async object(path: string, request: ApiRequest & { readonly maxBytes: number }): Promise<Json> {
    const { body, close, ...response } = await this.open(path, request);
    const reading = readBody(body, request.maxBytes).finally(close);
    const read = await this.asked(reading, request, 'stream_cut');
    const said = read.body.toString('utf8');
    this.accept(response, said, request);
    if (read.truncated) throw this.failure('answer_too_large', {});
    try {
      const value = JSON.parse(said) as unknown;
      if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Json;
    } catch {
      // Described below.
    }
    throw this.failure('bad_response', { what: 'its answer is not a JSON object', said });
  }

  failure(code: FailureCode, detail: Parameters<PlatformApi['platform']['describe']>[0]): CallFailure {
    return new CallFailure(code, this.platform.describe(detail));
  }
}

/** Advice for a connection test. */
export const cureOf = (found: Failure): string | undefined =>
  REFUSALS.cureOf(found, found.code === 'platform_busy' ? BUSY : undefined);
