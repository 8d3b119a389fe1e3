/** The agent providers of the contract; where each is reached is a setting. */
export const AGENT_PROVIDERS = [
  'AGENT_PROVIDER_1',
  'AGENT_PROVIDER_2',
  'AGENT_PROVIDER_3',
  'AGENT_PROVIDER_4',
] as const;
export type AgentProvider = (typeof AGENT_PROVIDERS)[number];

export const isAgentProvider = (text: string): text is AgentProvider =>
  (AGENT_PROVIDERS as readonly string[]).includes(text);
