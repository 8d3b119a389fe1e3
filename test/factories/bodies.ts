/** The smallest valid body that creates an agent. */
export const agentBody = (values: object = {}) => ({
  provider: 'AGENT_PROVIDER_1',
  assistantId: 'assistant-1',
  apiKey: 'provider-key-1',
  ...values,
});

/** A body that sets every field of an agent. */
export const fullAgentBody = (values: object = {}) => ({
  provider: 'AGENT_PROVIDER_3',
  type: 'OUTBOUND',
  promptType: 'MULTIPLE',
  name: 'Bella Vista – Réservations 🍝',
  apiKey: 'provider-key-3',
  assistantId: 'assistant-3',
  language: 'it-IT',
  phoneNumber: '+390612345678',
  prompt: 'Take reservations.\n"Quote" \\ and \t tab.',
  callMonitoring: true,
  isUsingDefaultApiKey: false,
  webhookUrl: 'https://example.com/hooks/agent?x=1',
  phoneNumberId: 'phone-3',
  webhookSecret: 'hook-secret-3',
  ...values,
});

/** The smallest valid body that creates a personality. */
export const personalityBody = (values: object = {}) => ({ name: 'Impatient regular', ...values });

export const scheduleBody = (values: object = {}) => ({
  name: 'Every night',
  cron: '0 2 * * *',
  timeZone: 'Europe/Berlin',
  run: { name: 'Nightly', repeat: 2 },
  ...values,
});
