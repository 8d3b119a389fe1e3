import { Body, Controller, Delete, Get, Param, Put, Query } from '@nestjs/common';
import { CurrentCaller } from '../../platform/access/access.decorators.js';
import type { Caller } from '../../platform/access/caller.js';
import type { Page } from '../../platform/database/page.js';
import { PageQuery } from '../../platform/http/dto/pagination.js';
import { Operation } from '../../platform/openapi/operation.decorator.js';
import { ProviderKey, PutProviderKeyRequest } from './dto/provider-key.dtos.js';
import { ProviderKeysService } from './provider-keys.service.js';

const tag = 'Workspace settings';
const path = { provider: 'Provider, AGENT_PROVIDER_1 to AGENT_PROVIDER_4' };

@Controller('workspace/provider-keys')
export class ProviderKeysController {
  constructor(private readonly service: ProviderKeysService) {}

  @Operation({
    summary: 'List the providers with a default key',
    description: 'Sorted newest first. The keys themselves are never returned.',
    tag,
    access: 'ADMIN',
    query: true,
    response: { shape: 'page', type: ProviderKey, message: 'Provider keys retrieved successfully' },
  })
  @Get()
  listProviderKeys(@CurrentCaller() caller: Caller, @Query() query: PageQuery): Promise<Page<ProviderKey>> {
    return this.service.list(caller, query);
  }

  @Operation({
    summary: 'Set the default key of a provider',
    description: 'Used from now on by agents with `isUsingDefaultApiKey`, whose responses show only its mask.',
    tag,
    access: 'ADMIN',
    path,
    body: { type: PutProviderKeyRequest, example: { apiKey: 'provider-key-1' } },
    response: { shape: 'data', type: ProviderKey, message: 'Provider key set successfully' },
  })
  @Put(':provider')
  putProviderKey(
    @CurrentCaller() caller: Caller,
    @Param('provider') provider: string,
    @Body() body: PutProviderKeyRequest,
  ): Promise<ProviderKey> {
    return this.service.set(caller, provider, body.apiKey);
  }

  @Operation({
    summary: 'Delete the default key of a provider',
    description: 'Agents with `isUsingDefaultApiKey` fall back to their own key, if they have one.',
    tag,
    access: 'ADMIN',
    path,
    response: { shape: 'message', message: 'Provider key deleted successfully' },
  })
  @Delete(':provider')
  deleteProviderKey(@CurrentCaller() caller: Caller, @Param('provider') provider: string): Promise<void> {
    return this.service.delete(caller, provider);
  }
}
