import { ApiPropertyOptional, OmitType, PartialType } from '@nestjs/swagger';
import { ValidateIf } from 'class-validator';
import {
  BooleanField,
  CredentialField,
  EnumField,
  MAX_LENGTH,
  StringField,
  UrlField,
} from '../../../platform/http/dto/fields.js';
import { PageQuery } from '../../../platform/http/dto/pagination.js';
import { AGENT_PROVIDERS, type AgentProvider } from '../../../platform/config/agent-providers.js';
import { AGENT_TYPES, type AgentType, PROMPT_TYPES, type PromptType } from '../agent.entity.js';
import { agentFields } from './agent.fields.js';

/** A field that the contract accepts on create although the server sets it: only its type is checked. */
const serverOwned = (field: { description: string; nullable?: boolean }) => ({
  ...field,
  description: `${field.description}. Accepted but ignored: set by the service`,
  maxLength: MAX_LENGTH.identifier,
  optional: true,
});

export class CreateAgentRequest {
  @EnumField(AGENT_PROVIDERS, agentFields.provider)
  provider: AgentProvider;

  @EnumField(AGENT_TYPES, { ...agentFields.type, optional: true })
  type?: AgentType | null;

  @EnumField(PROMPT_TYPES, { ...agentFields.promptType, optional: true })
  promptType?: PromptType | null;

  @StringField({ ...agentFields.name, optional: true })
  name?: string | null;

  @StringField(serverOwned(agentFields.created_at))
  created_at?: string;

  @StringField(serverOwned(agentFields.updated_at))
  updated_at?: string;

  // With `isUsingDefaultApiKey`, AgentsService checks whether there is a default key; otherwise the key is required.
  @ApiPropertyOptional()
  @ValidateIf(({ isUsingDefaultApiKey }: CreateAgentRequest, value) => !(isUsingDefaultApiKey && value === undefined))
  @CredentialField({
    ...agentFields.apiKey,
    description: `${agentFields.apiKey.description}. Required unless \`isUsingDefaultApiKey\` is true and a default key is set`,
  })
  apiKey?: string;

  @StringField(agentFields.assistantId)
  assistantId: string;

  @StringField(serverOwned(agentFields.createdByUserId))
  createdByUserId?: string;

  @StringField(serverOwned(agentFields.deletedAt))
  deletedAt?: string | null;

  @StringField({ ...agentFields.language, optional: true })
  language?: string | null;

  @StringField({ ...agentFields.phoneNumber, optional: true })
  phoneNumber?: string | null;

  @StringField({ ...agentFields.prompt, optional: true })
  prompt?: string | null;

  @StringField({
    description: 'Workspace of the agent: must be that of the API key, null or absent',
    maxLength: MAX_LENGTH.identifier,
    nullable: true,
    optional: true,
  })
  workspaceId?: string | null;

  @BooleanField({ ...agentFields.callMonitoring, optional: true, default: false })
  callMonitoring?: boolean;

  @BooleanField({ ...agentFields.isUsingDefaultApiKey, optional: true, default: false })
  isUsingDefaultApiKey?: boolean | null;

  @UrlField({ ...agentFields.webhookUrl, optional: true })
  webhookUrl?: string | null;

  @StringField({ ...agentFields.phoneNumberId, optional: true })
  phoneNumberId?: string | null;

  @CredentialField({ ...agentFields.webhookSecret, optional: true })
  webhookSecret?: string | null;
}

/** A partial update. Only fields that are nullable in the contract may be set to null. */
export class UpdateAgentRequest extends PartialType(
  OmitType(CreateAgentRequest, ['created_at', 'updated_at', 'createdByUserId', 'deletedAt', 'workspaceId'] as const),
  { skipNullProperties: false },
) {}

export class DeleteAgentQuery {
  @EnumField(['true', 'false'], {
    description: 'With `true` the agent is erased and cannot be restored, which requires an ADMIN key',
    optional: true,
    default: 'false',
  })
  permanently?: 'true' | 'false';
}

export class ListAgentsQuery extends PageQuery {
  @EnumField(['true', 'false'], {
    description: 'With `true` only deleted agents are listed, which requires an EDITOR key',
    optional: true,
    default: 'false',
  })
  deleted?: 'true' | 'false';

  @EnumField(AGENT_PROVIDERS, { description: 'Only agents of this provider', optional: true })
  provider?: AgentProvider;

  @StringField({
    description: 'Only agents with this text in `name`, `assistantId` or `phoneNumber`; case-insensitive',
    minLength: 1,
    maxLength: MAX_LENGTH.name,
    optional: true,
  })
  search?: string;
}
