import {
  BooleanField,
  EnumField,
  IdField,
  StringField,
  TimestampField,
  UrlField,
} from '../../../platform/http/dto/fields.js';
import { AGENT_PROVIDERS, type AgentProvider } from '../../../platform/config/agent-providers.js';
import { AGENT_TYPES, type AgentType, PROMPT_TYPES, type PromptType } from '../agent.entity.js';
import { agentFields } from './agent.fields.js';

/** An agent in responses; every field is always present. */
export class Agent {
  @EnumField(AGENT_PROVIDERS, agentFields.provider)
  provider: AgentProvider;

  @EnumField(AGENT_TYPES, agentFields.type)
  type: AgentType | null;

  @EnumField(PROMPT_TYPES, agentFields.promptType)
  promptType: PromptType | null;

  @IdField({ kind: 'agent', description: 'Identifier' })
  id: string;

  @StringField(agentFields.name)
  name: string | null;

  @TimestampField(agentFields.created_at)
  created_at: string;

  @TimestampField(agentFields.updated_at)
  updated_at: string;

  @StringField({
    ...agentFields.apiKey,
    description:
      "Credential for the provider account. Masked for VIEWER keys: `••••` and the last four characters, or `••••` alone below 12 characters. With `isUsingDefaultApiKey`, the mask of the workspace's default key, for every role",
    minLength: 0,
  })
  apiKey: string;

  @StringField(agentFields.assistantId)
  assistantId: string;

  @IdField({ kind: 'user', ...agentFields.createdByUserId })
  createdByUserId: string;

  @TimestampField(agentFields.deletedAt)
  deletedAt: string | null;

  @StringField(agentFields.language)
  language: string | null;

  @StringField(agentFields.phoneNumber)
  phoneNumber: string | null;

  @StringField(agentFields.prompt)
  prompt: string | null;

  @IdField({ kind: 'workspace', ...agentFields.workspaceId })
  workspaceId: string | null;

  @BooleanField(agentFields.callMonitoring)
  callMonitoring: boolean;

  @BooleanField(agentFields.isUsingDefaultApiKey)
  isUsingDefaultApiKey: boolean | null;

  @UrlField(agentFields.webhookUrl)
  webhookUrl: string | null;

  @StringField(agentFields.phoneNumberId)
  phoneNumberId: string | null;

  @StringField({
    ...agentFields.webhookSecret,
    description: `${agentFields.webhookSecret.description}. Masked for VIEWER keys, as \`apiKey\` is`,
  })
  webhookSecret: string | null;
}
