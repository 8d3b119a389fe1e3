import { OutboundError, type OutboundResponse } from '../../../../outbound-http/index.js';
import { retryAfterMs } from '../../../../text/index.js';
import { OtherSide, secretsOfUrl, withoutSecrets } from '../../../other-side/other-side.js';
import { type SentSecrets, sentSecrets } from '../../../other-side/secrets.js';
import { CallFailure } from '../../../timeline/failure.js';
import { codeOfStatus, OUTBOUND_CODES, systemError } from '../../http/outbound-failures.js';
import type { PlatformAccount } from '../../modules/assistants.js';
import { refusedRequest } from './refusals.js';

const VENDOR_HOST = /(^|\.)elevenlabs\.io\.?$/i;
const TIMEOUT_MS = 15_000;

interface ApiAccount extends Omit<PlatformAccount, 'apiKey'> {
  readonly apiKey?: string | undefined;
  /** Those of the connection; secret. */
  readonly headers?: Readonly<Record<string, string>>;
}

interface GetOptions {
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly maxBytes: number;
  readonly signal?: AbortSignal | undefined;
  readonly onStep?: ((step: string) => void) | undefined;
}

/** The platform's API, to which the key of an account is sent, in `xi-api-key` alone. */
export class Api {
  readonly platform: OtherSide;
  readonly secrets: SentSecrets;

  /** @param urlSecrets what must not be shown of the address */
  constructor(
    private readonly account: ApiAccount,
    urlSecrets = secretsOfUrl(account.url),
  ) {
    const { url, shownUrl = withoutSecrets(url), apiKey, headers = {} } = account;
    this.secrets = sentSecrets([apiKey], headers, urlSecrets);
    this.platform = new OtherSide(shownUrl, this.secrets.all);
  }

  /** @returns the body of a successful response. @throws CallFailure; the signal's reason */
  async get(path: string, { query = {}, headers, maxBytes, signal, onStep }: GetOptions): Promise<string> {
    const { client, apiKey } = this.account;
    const url = new URL(this.account.url);
    if (url.protocol !== 'https:' && VENDOR_HOST.test(url.hostname)) {
      const what = 'a key is sent to the platform over TLS only: its address must begin with https://';
      throw new CallFailure('connection_failed', this.platform.describe({ what, isPermanent: true }));
    }
    url.pathname = url.pathname.replace(/\/+$/, '') + path;
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    let response: OutboundResponse;
    try {
      response = await client.request({
        ...{ url: url.href, method: 'GET', timeoutMs: TIMEOUT_MS, maxBodyBytes: maxBytes },
        headers: { ...this.account.headers, ...(apiKey !== undefined && { 'xi-api-key': apiKey }), ...headers },
        ...(signal && { signal }),
        ...(onStep && { onPhase: onStep }),
      });
    } catch (cause) {
      if (!(cause instanceof OutboundError)) throw cause;
      signal?.throwIfAborted();
      const what = systemError(cause);
      throw new CallFailure(OUTBOUND_CODES[cause.reason], this.platform.describe({ what }), { cause });
    }
    const { status, headers: answered } = response;
    const said = response.body.toString('utf8');
    if (status >= 200 && status < 300) return said;
    const refusal = { status, said, retryAfterMs: retryAfterMs(answered['retry-after']) };
    throw new CallFailure(refusedRequest(this.platform, refusal, codeOfStatus(status)));
  }
}
