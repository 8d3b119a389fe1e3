import { PROTOCOLS, type ProtocolName } from '../../../../libs/simulation/index.js';
import { CredentialField, EnumField, MAX_LENGTH, StringField } from '../../../platform/http/dto/fields.js';
import { agentFields } from '../dto/agent.fields.js';

/** Protocols of the platforms that list the assistants of an account. */
export const LISTING_PROTOCOLS = PROTOCOLS.all.flatMap(({ name, assistants }) => (assistants ? [name] : []));

export class ListAssistantsRequest {
  @CredentialField({
    ...agentFields.apiKey,
    description: `${agentFields.apiKey.description}. Absent: the default key of the workspace for the provider`,
    optional: true,
  })
  apiKey?: string;

  @EnumField(LISTING_PROTOCOLS, {
    description:
      'Protocol of the platform that is asked, at the address of its vendor; requires `apiKey`. Absent: that of the provider, a setting of the service',
    example: 'vapi',
    optional: true,
  })
  protocol?: ProtocolName;

  @StringField({
    description: "Base of the platform's API, if it is not that of the vendor; requires `apiKey`",
    example: 'https://api.eu.residency.elevenlabs.io',
    minLength: 1,
    maxLength: MAX_LENGTH.url,
    optional: true,
  })
  url?: string;
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
