import { MAX_LENGTH } from '../../../platform/http/dto/fields.js';

/** Meaning and limits of each field of an agent, shared by requests and responses. */
export const agentFields = {
  provider: { description: 'Voice-agent provider that the agent runs on', example: 'AGENT_PROVIDER_1' },
  type: { description: 'Whether the agent answers calls or makes them', example: 'INBOUND', nullable: true },
  promptType: {
    description: 'Whether the agent works from one prompt or from several',
    example: 'SINGLE',
    nullable: true,
  },
  name: {
    description: 'Display name',
    example: 'Bella Vista reservations',
    maxLength: MAX_LENGTH.name,
    nullable: true,
  },
  apiKey: {
    description: 'Credential for the provider account. A value that begins with `••••` is rejected as a mask',
    example: 'provider-key-1',
    maxLength: MAX_LENGTH.credential,
    minLength: 1,
  },
  assistantId: {
    description: 'Identifier of the agent at the provider',
    example: 'assistant-1',
    maxLength: MAX_LENGTH.identifier,
    minLength: 1,
  },
  language: {
    description: 'Language that the agent speaks',
    example: 'en-US',
    maxLength: MAX_LENGTH.identifier,
    nullable: true,
  },
  phoneNumber: {
    description: 'Phone number of the agent',
    example: '+15550100',
    maxLength: MAX_LENGTH.identifier,
    nullable: true,
  },
  phoneNumberId: {
    description: 'Identifier of the phone number at the provider',
    example: 'phone-1',
    maxLength: MAX_LENGTH.identifier,
    nullable: true,
  },
  prompt: {
    description: "The agent's prompt",
    example: 'You take table reservations.',
    maxLength: MAX_LENGTH.text,
    nullable: true,
  },
  workspaceId: { description: 'Workspace that the agent belongs to', nullable: true },
  callMonitoring: {
    description:
      'Whether calls that real callers had are fetched from its platform (Vapi, Retell, ElevenLabs) and judged. Only an ADMIN may set it while `isUsingDefaultApiKey` is true',
    example: false,
  },
  isUsingDefaultApiKey: {
    description: "Whether the workspace's default key of the provider is used",
    example: false,
    nullable: true,
  },
  webhookUrl: {
    description: "Address that receives the events of the agent's runs; not in a private network",
    example: 'https://example.com/hooks/agent',
    nullable: true,
  },
  webhookSecret: {
    description: 'Secret that signs the events sent to `webhookUrl`',
    example: null,
    maxLength: MAX_LENGTH.credential,
    nullable: true,
  },
  createdByUserId: { description: 'User that created it', maxLength: MAX_LENGTH.identifier },
  created_at: { description: 'When it was created' },
  updated_at: { description: 'When it was last changed' },
  deletedAt: { description: 'When it was deleted', nullable: true, example: null },
} as const;
