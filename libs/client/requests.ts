import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import createClient, { type Client } from 'openapi-fetch';
import { type Answered, errorBody, isAnswer, isInProgress } from './answers.js';
import type { paths } from './api.js';
import type { EnvironmentProxy } from '../environment-proxy/index.js';
import { type CommandError, EXIT, isTemporary, misuse, RefusedError, UnreachableError } from './errors.js';
import { foreignAnswer } from './foreign-answer.js';
import { type Patience, retryingFetch } from './retrying-fetch.js';
import type { Subject } from './subjects.js';

/** Retry time in milliseconds: short before the first response, then long enough for a restart of the service. */
const PATIENCE_AT_FIRST = 5_000;
const PATIENCE_LATER = 120_000;
export interface ServiceOptions {
  /** URL of the service, without a trailing slash. */
  readonly url: string;
  readonly apiKey: string;
  /** Between this machine and the service. */
  readonly proxy?: EnvironmentProxy | undefined;
  /** Receives messages about waiting, such as for a rate limit. */
  readonly announce?: (text: string) => void;
}

/**
 * Requests, typed by the OpenAPI document. They are retried if the connection fails; writes have an Idempotency-Key, so that
 * they are executed once.
 */
export class Requests {
  readonly url: string;
  /** May be replaced, for example while a progress bar is displayed. */
  announce: (text: string) => void;
  protected readonly client: Client<paths>;
  private readonly proxy: EnvironmentProxy | undefined;
  private readonly patience: Patience = { ms: PATIENCE_AT_FIRST };

  constructor({ url, apiKey, proxy, announce = () => undefined }: ServiceOptions) {
    this.url = url;
    this.proxy = proxy;
    this.announce = announce;
    this.client = createClient<paths>({
      baseUrl: url,
      headers: { Authorization: `Bearer ${apiKey}` },
      fetch: retryingFetch(this.patience, { proxy, announce: (text) => this.announce(text) }),
    });
  }

  /** @param subject what the request names, for the message of a 404 */
  protected async read<A extends Answered>(
    request: () => Promise<A>,
    subject?: Subject,
  ): Promise<NonNullable<A['data']>> {
    return this.dataOf(await this.attempt(request), subject);
  }

  /** All attempts use the same key, so that the service repeats the first response. */
  protected async write<A extends Answered>(
    request: (header: { 'Idempotency-Key': string }) => Promise<A>,
    subject: string,
  ): Promise<NonNullable<A['data']>> {
    const header = { 'Idempotency-Key': randomUUID() };
    const until = performance.now() + this.patience.ms;
    for (;;) {
      const answer = await this.attempt(() => request(header));
      // The connection failed while the service was processing the request: it still is.
      if (!isInProgress(answer) || performance.now() > until) return this.dataOf(answer, subject);
      await sleep(500);
    }
  }

  protected async attempt<A extends Answered>(request: () => Promise<A>): Promise<A> {
    try {
      return await request();
    } catch (error) {
      if (error instanceof SyntaxError) throw this.strange('its response is not JSON');
      if (error instanceof Error && error.name === 'AbortError') throw error;
      throw new UnreachableError(this.url, error, this.patience.ms === PATIENCE_LATER, this.proxy);
    }
  }

  protected dataOf<A extends Answered>({ data, error, response }: A, subject?: Subject): NonNullable<A['data']> {
    const { status, statusText, headers } = response;
    const isService = headers.has('X-API-Version');
    if (isService && response.ok && isAnswer(data)) {
      this.patience.ms = PATIENCE_LATER;
      return data as NonNullable<A['data']>;
    }
    if (status >= 300 && status < 400) {
      throw this.strange(`it redirects to ${headers.get('location') ?? 'another URL'}`);
    }
    const body = isService ? errorBody(error) : undefined;
    if (body) {
      const what = typeof subject === 'function' ? subject(body.issues) : subject;
      const missing = what === undefined ? undefined : `${what} not found at ${this.url}`;
      throw new RefusedError(status, body.code, body.message, body.issues, missing);
    }
    if (!isService) throw foreignAnswer(this.url, response, this.proxy);
    if (isTemporary(status)) throw new RefusedError(status, statusText, 'no reason given', []);
    throw this.strange(`its response (${status} ${statusText}) is not one of the service`);
  }

  private strange(what: string): CommandError {
    return misuse(`${this.url} is not the URL of the service: ${what}`, 'Set VAT_URL (or --url) to its URL.');
  }
}

/** Whether repeating the request cannot succeed. */
export const isFinalRefusal = (error: unknown): boolean =>
  error instanceof RefusedError && error.exitCode === EXIT.misused;
