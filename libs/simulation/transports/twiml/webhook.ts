import { type OutboundClient, OutboundError } from '../../../outbound-http/index.js';
import { retryAfterMs } from '../../../text/index.js';
import { CallFailure } from '../../timeline/failure.js';
import type { OtherSide } from '../../other-side/other-side.js';
import { codeOfStatus, OUTBOUND_CODES, redirection, systemError } from '../http/outbound-failures.js';
import type { DialledAddress } from './addresses.js';
import { PRELUDE_LIMITS } from './http-time.js';
import { twilioSignature } from './signature.js';
import { type HttpMethod, MAX_TWIML_BYTES, parseTwiml, type Verb } from './twiml.js';

export interface WebhookRequest {
  readonly address: DialledAddress;
  readonly method: HttpMethod;
  readonly form: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  /** Undefined: not signed. */
  readonly authToken: string | undefined;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  /** Phases of the connection, and `accepted`. */
  readonly onStep?: (step: string) => void;
}

/**
 * Requests TwiML as Twilio does: a signed form, or a GET with its parameters in the query.
 * @param agent how failures describe it
 * @throws CallFailure
 */
export async function requestTwiml(
  client: OutboundClient,
  agent: OtherSide,
  request: WebhookRequest,
): Promise<{ readonly verbs: readonly Verb[]; readonly contentType: string | undefined }> {
  const { status, headers, body, truncated } = await send(client, agent, request);
  const said = body.toString('utf8');
  if (status < 200 || status >= 300) {
    const code = codeOfStatus(status);
    const what = `HTTP ${status}${code === 'redirect' ? redirection(headers.location, request.address.url) : ''}`;
    throw new CallFailure(
      code,
      agent.describe({ what, status, said, retryAfterMs: retryAfterMs(headers['retry-after']) }),
    );
  }
  request.onStep?.('accepted');
  if (truncated) throw new CallFailure('answer_too_large', agent.describe({ what: 'TwiML of more than 64 KiB' }));
  const contentType = headers['content-type'];
  const [, charset] = /;\s*charset\s*=\s*"?([\w.:-]+)/i.exec(contentType ?? '') ?? [];
  try {
    return { verbs: parseTwiml(body, charset), contentType };
  } catch (cause) {
    if (!(cause instanceof CallFailure)) throw cause;
    throw new CallFailure('invalid_twiml', agent.describe({ what: cause.what, status, said }), { cause });
  }
}

async function send(client: OutboundClient, agent: OtherSide, request: WebhookRequest) {
  const { address, method, form, authToken, timeoutMs = PRELUDE_LIMITS.requestMs, signal, onStep } = request;
  const query = new URLSearchParams(form).toString();
  const isPost = method === 'POST';
  const withQuery = (url: string) => (isPost ? url : `${url}${url.includes('?') ? '&' : '?'}${query}`);
  const signed =
    authToken === undefined ? undefined : twilioSignature(authToken, withQuery(address.signedUrl), isPost ? form : {});
  try {
    return await client.request({
      url: withQuery(address.url),
      method,
      headers: {
        accept: 'application/xml, text/xml, */*',
        'user-agent': 'TwilioProxy/1.1',
        ...request.headers,
        ...(isPost && { 'content-type': 'application/x-www-form-urlencoded; charset=UTF-8' }),
        ...(signed !== undefined && { 'x-twilio-signature': signed }),
      },
      ...(isPost && { body: query }),
      timeoutMs,
      maxBodyBytes: MAX_TWIML_BYTES,
      ...(signal && { signal }),
      ...(onStep && { onPhase: onStep }),
    });
  } catch (cause) {
    if (!(cause instanceof OutboundError)) throw cause;
    if (signal?.aborted === true) throw signal.reason;
    throw new CallFailure(OUTBOUND_CODES[cause.reason], agent.describe({ what: systemError(cause) }), { cause });
  }
}
