import type { TextModule } from '../../modules/module.js';
import { chatCompletions } from './chat-completions.js';

export { chatCompletions, type ChatCompletionsOptions } from './chat-completions.js';

/** An agent with the chat-completions interface of OpenAI, over HTTP. */
export const chatCompletionsModule: TextModule = {
  name: 'chat-completions',
  source: import.meta.url,
  title: 'OpenAI-compatible chat completions',
  medium: 'text',
  schemes: ['http:', 'https:'],
  firstSpeaker: 'caller',
  provides: { words: true, toolCalls: 'answered', keys: false },
  options: {},
  reservedHeaders: [],
  takes: { history: true },
  steps: {
    resolved: 'The host name leads to an address that may be called',
    connected: 'The connection was established',
    secured: 'The connection is encrypted, and the certificate is valid',
    accepted: 'The agent accepted the request',
    answered: 'The agent said its first words',
  },
  transport: ({ url, shownUrl, headers, apiKey, firstSpeaker }, call) =>
    chatCompletions({
      ...call,
      url,
      headers,
      agentSpeaksFirst: firstSpeaker === 'agent',
      ...(shownUrl !== undefined && { shownUrl }),
      ...(apiKey !== undefined && { apiKey }),
    }),
};
