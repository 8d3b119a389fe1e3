import { type ApiAccount, type ApiRequest, PlatformApi } from '../../http/platform-api.js';
import type { PlatformRules } from '../../http/platform-rules.js';
import { refusedRequest } from './refusals.js';

const RULES: PlatformRules = {
  vendorHost: /(^|\.)elevenlabs\.io\.?$/i,
  authorization: (apiKey) => ({ 'xi-api-key': apiKey }),
  refused: refusedRequest,
};

/** The platform's API, to which the key of an account is sent, in `xi-api-key` alone. */
export class Api extends PlatformApi {
  /** @param urlSecrets what must not be shown of the address */
  constructor(account: ApiAccount, urlSecrets?: readonly string[]) {
    super(RULES, account, urlSecrets);
  }

  /** @returns the body of a response 2xx. @throws CallFailure; the signal's reason */
  get(path: string, request: ApiRequest): Promise<string> {
    return this.text(path, request);
  }
}
