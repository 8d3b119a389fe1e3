import { Injectable } from '@nestjs/common';
import { KeyRing } from '../../platform/encryption/key-ring.js';
import { ProviderKeysService } from '../provider-keys/provider-keys.service.js';
import { agentSecretPurpose } from './agent.entity.js';
import type { AgentRow } from './agents.repository.js';

type Field = 'apiKey' | 'webhookSecret';

/** Encrypts and decrypts the secrets of agents. */
@Injectable()
export class AgentSecrets {
  constructor(
    private readonly providerKeys: ProviderKeysService,
    private readonly keyRing: KeyRing,
  ) {}

  seal(id: string, field: Field, clear: string | null): string | null {
    return clear === null ? null : this.keyRing.encrypt(clear, agentSecretPurpose(id, field));
  }

  open(id: string, field: Field, sealed: string | null): string | null {
    return sealed === null ? null : this.keyRing.decrypt(sealed, agentSecretPurpose(id, field));
  }

  /** The key for calls to the agent: the default key if it uses one; null if that was deleted. */
  keyOf(row: AgentRow): string | null {
    return row.defaultApiKey === null
      ? this.open(row.id, 'apiKey', row.apiKey)
      : this.providerKeys.open(row.workspaceId, row.provider, row.defaultApiKey);
  }
}
