import type { Failure } from '../../../timeline/failure.js';
import { agentUrl } from '../../http/agent-url.js';
import { type ApiAccount, type ApiRequest, PlatformApi } from '../../http/platform-api.js';
import type { AgentCall, AgentEndpoint } from '../../modules/endpoint.js';
import type { Json } from '../fields.js';
import { BUSY, REFUSALS, RETELL_RULES } from './rules.js';

const CONCURRENCY_MS = 5_000;

/** The API of Retell, whose answers are objects. */
export class RetellApi extends PlatformApi {
  constructor(account: ApiAccount) {
    super(RETELL_RULES, account);
  }

  /** For one call of an agent. */
  static of(endpoint: AgentEndpoint, call: AgentCall): RetellApi {
    const { url, shownUrl, headers, apiKey } = endpoint;
    const shown = shownUrl === undefined ? {} : { shownUrl: agentUrl(shownUrl, call) };
    return new RetellApi({ headers, apiKey, ...shown, url: agentUrl(url, call), client: call.client });
  }

  /**
   * That the account has a call left. What cannot be read decides nothing: the request itself is refused, then.
   * @throws CallFailure `platform_busy`; the signal's reason
   */
  async requireFreeCall(request: Pick<ApiRequest, 'connections' | 'onStep' | 'signal'>): Promise<void> {
    const asked = { timeoutMs: CONCURRENCY_MS, ...request };
    const found = await this.object('/get-concurrency', asked).catch((): Json => ({}));
    request.signal?.throwIfAborted();
    const { current_concurrency: current, concurrency_limit: limit } = found;
    if (typeof current !== 'number' || typeof limit !== 'number' || current < limit) return;
    const what = `${current} of the ${limit} calls at once that the account has are in use, ${BUSY}`;
    throw this.failure('platform_busy', { what });
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
