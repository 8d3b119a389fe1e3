import { CredentialField, StringField } from '../../../platform/http/dto/fields.js';
import { agentFields } from '../dto/agent.fields.js';

export class ListAssistantsRequest {
  @CredentialField({
    ...agentFields.apiKey,
    description: `${agentFields.apiKey.description}. Absent: the default key of the workspace for the provider`,
    optional: true,
  })
  apiKey?: string;
}

/** An assistant of an account, with the fields of the agent that it can be registered as; null for what is not known. */
export class ProviderAssistant {
  @StringField(agentFields.assistantId)
  assistantId: string;

  @StringField(agentFields.name)
  name: string | null;

  @StringField(agentFields.language)
  language: string | null;

  @StringField(agentFields.phoneNumber)
  phoneNumber: string | null;

  @StringField(agentFields.phoneNumberId)
  phoneNumberId: string | null;

  @StringField(agentFields.prompt)
  prompt: string | null;
}
