import { Body, Controller, Delete, Get, Param, Post, Query } from '@nestjs/common';
import { CurrentCaller } from '../../platform/access/access.decorators.js';
import type { Caller } from '../../platform/access/caller.js';
import type { Page } from '../../platform/database/page.js';
import { PageQuery } from '../../platform/http/dto/pagination.js';
import { Operation } from '../../platform/openapi/operation.decorator.js';
import { ApiKeySettingsService } from './api-key-settings.service.js';
import { ApiKey, CreateApiKeyRequest, NewApiKey } from './dto/api-key.dtos.js';

const tag = 'Workspace settings';

@Controller('workspace/api-keys')
export class ApiKeysController {
  constructor(private readonly service: ApiKeySettingsService) {}

  @Operation({
    summary: 'Create an API key',
    description: 'The value of the key is only shown in this response.',
    tag,
    access: 'ADMIN',
    body: { type: CreateApiKeyRequest, example: { name: 'Nightly pipeline', role: 'EDITOR' } },
    response: {
      shape: 'data',
      type: NewApiKey,
      showsSecretOnce: true,
      message: 'API key created successfully',
      status: 201,
    },
  })
  @Post()
  createApiKey(@CurrentCaller() caller: Caller, @Body() body: CreateApiKeyRequest): Promise<NewApiKey> {
    return this.service.create(caller, body);
  }

  @Operation({
    summary: 'List the API keys',
    description: 'Sorted newest first, without their values and without revoked keys.',
    tag,
    access: 'ADMIN',
    query: true,
    response: { shape: 'page', type: ApiKey, message: 'API keys retrieved successfully' },
  })
  @Get()
  listApiKeys(@CurrentCaller() caller: Caller, @Query() query: PageQuery): Promise<Page<ApiKey>> {
    return this.service.list(caller, query);
  }

  @Operation({
    summary: 'Revoke an API key',
    description: 'All processes reject the key within a second. The last ADMIN key of a workspace cannot be revoked.',
    tag,
    access: 'ADMIN',
    path: { id: 'Identifier of the key' },
    errors: ['CONFLICT'],
    response: { shape: 'message', message: 'API key revoked successfully' },
  })
  @Delete(':id')
  revokeApiKey(@CurrentCaller() caller: Caller, @Param('id') id: string): Promise<void> {
    return this.service.revoke(caller, id);
  }
}
