import { CredentialField, EnumField, MAX_LENGTH, TimestampField } from '../../../platform/http/dto/fields.js';
import { AGENT_PROVIDERS, type AgentProvider } from '../../../platform/config/agent-providers.js';

/** A provider with a default key; the key itself is never returned. */
export class ProviderKey {
  @EnumField(AGENT_PROVIDERS, { description: 'Provider whose agents may use it', example: 'AGENT_PROVIDER_1' })
  provider: AgentProvider;

  @TimestampField({ description: 'When it was last set' })
  updatedAt: string;
}

export class PutProviderKeyRequest {
  @CredentialField({
    description: 'Credential for the provider account. A value that begins with `••••` is rejected as a mask',
    example: 'provider-key-1',
    minLength: 1,
    maxLength: MAX_LENGTH.credential,
  })
  apiKey: string;
}
