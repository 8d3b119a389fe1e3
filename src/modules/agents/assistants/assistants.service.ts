import { Inject, Injectable } from '@nestjs/common';
import { OutboundClient } from '../../../../libs/outbound-http/index.js';
import {
  type Assistant,
  CallFailure,
  type Failure,
  platformOf,
  PROTOCOLS,
  sanitizeText,
} from '../../../../libs/simulation/index.js';
import { clipped } from '../../../../libs/text/index.js';
import { type Caller, covers } from '../../../platform/access/caller.js';
import { type AgentProvider, isAgentProvider } from '../../../platform/config/agent-providers.js';
import { SETTINGS } from '../../../platform/config/settings.module.js';
import type { Settings } from '../../../platform/config/settings.js';
import { Database } from '../../../platform/database/database.js';
import { type Page, type PageRequest, window } from '../../../platform/database/page.js';
import {
  about,
  conflict,
  DomainError,
  forbidden,
  invalidInput,
  notFound,
} from '../../../platform/errors/domain-error.js';
import { ProviderKeysService } from '../../provider-keys/provider-keys.service.js';
import { addressViolation } from '../connection/address-rules.js';
import { LISTING_PROTOCOLS, type ListAssistantsRequest, type ProviderAssistant } from './assistants.dtos.js';

/** Characters that the fields of an agent can have: its prompt, and all others. */
const MAX_PROMPT = 100_000;
const MAX_TEXT = 255;
/** What the value of a header may contain. */
const SENDABLE = /^[\x20-\x7e\xa0-\xff]*$/;
/** For all requests to the platform together, in milliseconds. */
const TIMEOUT_MS = 30_000;
/** Lists of a workspace at once in one process: each is up to some hundred requests to the platform. */
const MAX_LISTS = 2;

/** The assistants of accounts on the platforms of the providers. */
@Injectable()
export class AssistantsService {
  /** Lists in progress, by workspace. */
  private readonly lists = new Map<string, number>();

  constructor(
    private readonly database: Database,
    private readonly keys: ProviderKeysService,
    private readonly client: OutboundClient,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  /**
   * @param request without `apiKey`: the default key of the workspace, for the provider's own platform only
   * @throws DomainError NOT_FOUND for an unknown provider; FORBIDDEN for an EDITOR without `apiKey`; BAD_REQUEST without a
   *   key that can be sent, and for an address that may not be called; CONFLICT if the provider's protocol has no list; UNPROCESSABLE_CONTENT and SERVICE_UNAVAILABLE with the words of
   *   the platform; TOO_MANY_REQUESTS
   */
  async list(
    caller: Caller,
    provider: string,
    { apiKey, ...wanted }: ListAssistantsRequest,
    query: PageRequest,
  ): Promise<Page<ProviderAssistant>> {
    if (!isAgentProvider(provider)) throw notFound();
    const setting = this.settings.agentProviders[provider];
    const { protocol = setting.protocol } = wanted;
    const { title, defaultUrl, schemes } = PROTOCOLS.of(protocol);
    const { assistants } = platformOf(protocol, caller.workspaceId);
    // The address of the setting belongs to the operator, not to the workspace.
    const settingsUrl = wanted.protocol === undefined && wanted.url === undefined ? setting.url : undefined;
    const url = wanted.url ?? settingsUrl ?? defaultUrl;
    if (!assistants || url === undefined) {
      throw conflict(
        `${title} has no list of an account's assistants: give protocol, or set ${provider}_PROTOCOL to one that has: ${LISTING_PROTOCOLS.join(', ')}`,
      );
    }
    const violation = wanted.url === undefined ? undefined : addressViolation(url, schemes, this.client);
    if (violation !== undefined) throw invalidInput(about('url', violation));
    const [other] = Object.keys(wanted).filter((name) => wanted[name as keyof typeof wanted] !== undefined);
    if (apiKey === undefined && other !== undefined) {
      throw invalidInput(about('apiKey', `must be given with ${other}: a default key is sent where the settings say`));
    }
    if (apiKey !== undefined && !SENDABLE.test(apiKey)) {
      throw invalidInput(
        about('apiKey', 'must not contain control characters, or characters beyond U+00FF: it is sent in a header'),
      );
    }
    const { page, limit, offset } = window(query);
    const account = {
      ...{ client: this.client, url, apiKey: apiKey ?? (await this.defaultKey(caller, provider)) },
      ...(settingsUrl !== undefined && { shownUrl: `${provider}_URL` }),
    };
    return this.limited(caller.workspaceId, async () => {
      const { items, total } = await assistants(account, { offset, limit }, AbortSignal.timeout(TIMEOUT_MS));
      return { items: items.filter(isUsable).map(toResponse), total, page, limit };
    });
  }

  private async defaultKey({ workspaceId, role }: Caller, provider: AgentProvider): Promise<string> {
    if (!covers(role, 'ADMIN'))
      throw forbidden(about('apiKey', 'must be given: only an ADMIN may list with the default key'));
    const key = await this.keys.find(workspaceId, provider);
    if (key === undefined) {
      throw invalidInput(about('apiKey', `must be given, because the workspace has no default key for ${provider}`));
    }
    return key;
  }

  /** Requests of others take no connection of the database while this one waits for the platform. */
  private async limited<T>(workspaceId: string, list: () => Promise<T>): Promise<T> {
    const running = this.lists.get(workspaceId) ?? 0;
    if (running >= MAX_LISTS) {
      const issue = `At most ${MAX_LISTS} lists of a workspace are fetched at once`;
      throw new DomainError('TOO_MANY_REQUESTS', undefined, [issue], { retryAfterSeconds: 1 });
    }
    this.lists.set(workspaceId, running + 1);
    try {
      return await this.database.withoutTransaction(list);
    } catch (error) {
      throw errorOf(error);
    } finally {
      const left = (this.lists.get(workspaceId) ?? 1) - 1;
      if (left > 0) this.lists.set(workspaceId, left);
      else this.lists.delete(workspaceId);
    }
  }
}

function errorOf(error: unknown): unknown {
  if (error instanceof CallFailure) return refusal(error.failure);
  if (!(error instanceof DOMException) || error.name !== 'TimeoutError') return error;
  const message = `The platform did not list the assistants within ${TIMEOUT_MS / 1_000} s`;
  return new DomainError('SERVICE_UNAVAILABLE', message, undefined, { cause: error });
}

function refusal({ message, retryable, retryAfterMs }: Failure): DomainError {
  const code = retryable ? 'SERVICE_UNAVAILABLE' : 'UNPROCESSABLE_CONTENT';
  const retryAfter = retryAfterMs !== undefined && { retryAfterSeconds: Math.ceil(retryAfterMs / 1_000) };
  return new DomainError(code, message, undefined, { ...retryAfter });
}

/** An id that an agent cannot have cannot be registered. */
const isUsable = ({ assistantId }: Assistant): boolean => stored(assistantId) === assistantId && assistantId !== '';

function toResponse({ assistantId, name, language, phoneNumber, phoneNumberId, prompt }: Assistant): ProviderAssistant {
  return {
    assistantId,
    name: stored(name),
    language: stored(language),
    phoneNumber: stored(phoneNumber),
    phoneNumberId: stored(phoneNumberId),
    prompt: stored(prompt, MAX_PROMPT),
  };
}

/** A text of the platform as an agent can have it. */
const stored = (text: string | null, max = MAX_TEXT): string | null =>
  text === null ? null : clipped(sanitizeText(text), max);
