import { Body, Controller, Param, Post, Query } from '@nestjs/common';
import { CurrentCaller } from '../../../platform/access/access.decorators.js';
import type { Caller } from '../../../platform/access/caller.js';
import type { Page } from '../../../platform/database/page.js';
import { PageQuery } from '../../../platform/http/dto/pagination.js';
import { Operation } from '../../../platform/openapi/operation.decorator.js';
import { ListAssistantsRequest, ProviderAssistant } from './assistants.dtos.js';
import { AssistantsService } from './assistants.service.js';

@Controller('providers/:provider/assistants')
export class AssistantsController {
  constructor(private readonly service: AssistantsService) {}

  @Operation({
    summary: "List the assistants of a provider's account",
    description:
      'Asks the platform of the provider which assistants the account of `apiKey` has, in the order of the platform, so that they can be registered as agents. Nothing is stored. Without `apiKey` the default key of the workspace is used, which requires an ADMIN key. With `protocol` another platform is asked than that of the setting. 409 if the protocol of the provider has no such list; 422, with the words of the platform, if it refuses the request; 503 if it cannot be reached.',
    tag: 'Agents',
    access: 'EDITOR',
    path: { provider: 'Provider, AGENT_PROVIDER_1 to AGENT_PROVIDER_4' },
    query: true,
    body: { type: ListAssistantsRequest, example: {} },
    response: { shape: 'page', type: ProviderAssistant, message: 'Assistants retrieved successfully' },
    errors: ['CONFLICT', 'UNPROCESSABLE_CONTENT'],
  })
  @Post()
  listAssistants(
    @CurrentCaller() caller: Caller,
    @Param('provider') provider: string,
    @Query() query: PageQuery,
    @Body() account: ListAssistantsRequest,
  ): Promise<Page<ProviderAssistant>> {
    return this.service.list(caller, provider, account, query);
  }
}
