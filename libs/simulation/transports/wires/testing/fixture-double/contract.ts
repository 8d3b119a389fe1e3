import { message, toneParts } from './agent.js';

/** The platform of the fixture wire, as `wireContract` needs it. */
export const fixtureContractDouble = () => ({
  receive: () => undefined,
  ready: () => [message('ready')],
  speech: (ms: number) => [message('item', { item: 1 }), ...toneParts(ms)],
  unknown: (text: string) => message('of_a_later_version', { text }),
  echoes: (text: string) => [
    message('ready', { text }),
    message('item', { item: 2, text }),
    message('said', { item: 1, text }),
    message('heard', { text }),
    message('tool_call', { id: text, name: text, json: JSON.stringify({ value: text, [text]: 1 }) }),
    message('tool_call', { id: '1', name: 'book', json: `not JSON: ${text}` }),
    message('drop', { item: 1, text }),
    message('transfer', { text }),
    message('error', { text }),
    message('end', { text }),
    message('said', { item: text, text }),
    message(text, { text }),
    `not JSON: ${text}`,
  ],
});
