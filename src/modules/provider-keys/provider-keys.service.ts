import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { KeyRing } from '../../platform/encryption/key-ring.js';
import { ProviderKeyEntity, providerKeyPurpose } from './provider-key.entity.js';

/** The default credentials of a workspace at its agent providers. */
@Injectable()
export class ProviderKeysService {
  constructor(
    private readonly database: Database,
    private readonly keyRing: KeyRing,
  ) {}

  /** The default key as stored, or null when the workspace has none for this provider. */
  async findSealed(workspaceId: string, provider: string): Promise<string | null> {
    const row = await this.database.manager.findOneBy(ProviderKeyEntity, { workspaceId, provider });
    return row?.apiKey ?? null;
  }

  /** Sets the default key that agents with `isUsingDefaultApiKey` call with. */
  async put(workspaceId: string, provider: string, apiKey: string): Promise<void> {
    const sealed = this.keyRing.encrypt(apiKey, providerKeyPurpose(workspaceId, provider));
    await this.database.manager.upsert(ProviderKeyEntity, { workspaceId, provider, apiKey: sealed }, [
      'workspaceId',
      'provider',
    ]);
  }

  /** The clear value of a key as stored. */
  open(workspaceId: string, provider: string, sealed: string): string {
    return this.keyRing.decrypt(sealed, providerKeyPurpose(workspaceId, provider));
  }
}
