import type { OutboundClient } from '../../../outbound-http/index.js';

/** An account on a platform, whose assistants are listed. */
export interface PlatformAccount {
  readonly client: OutboundClient;
  /** Base of the platform's API. */
  readonly url: string;
  /** What failures show instead of it, such as the name of its setting. */
  readonly shownUrl?: string;
  readonly apiKey: string;
}

/** An agent as its platform describes it; null for what the platform does not say. Texts may have any length. */
export interface Assistant {
  readonly assistantId: string;
  readonly name: string | null;
  readonly language: string | null;
  readonly phoneNumber: string | null;
  readonly phoneNumberId: string | null;
  readonly prompt: string | null;
}

export interface ListedAssistants {
  readonly items: readonly Assistant[];
  /** Of the whole account. */
  readonly total: number;
}

/** A part of a list. */
export interface AssistantsWindow {
  readonly offset: number;
  readonly limit: number;
}

/**
 * Lists a part of an account's assistants, in the platform's order.
 * @param window the part; a platform that has no parts is asked for all
 * @throws CallFailure with the platform's own words; the signal's reason
 */
export type ListAssistants = (
  account: PlatformAccount,
  window: AssistantsWindow,
  signal: AbortSignal,
) => Promise<ListedAssistants>;
