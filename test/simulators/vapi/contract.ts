import { alignment, client, progress, tone } from './messages.js';

/** Secrets of the addresses of a call, as the API returns them. */
export const TRANSPORT_URL = 'wss://api.vapi.ai/7420f27a-30fd-4f49-a995-5549ae7cc00d/transport';
export const CONTROL_URL = 'https://phone-call-websocket.vapi.ai/0c3f8a52-77d1-4a0e-8b5e-1f8d0a6c9e21/control';

/** The answer of POST /call. */
export const createdCall = (more: object = {}) => ({
  id: '7420f27a-30fd-4f49-a995-5549ae7cc00d',
  orgId: 'org',
  type: 'vapi.websocketCall',
  status: 'queued',
  createdAt: '2026-11-24T10:00:00.000Z',
  updatedAt: '2026-11-24T10:00:00.000Z',
  cost: 0,
  transport: { provider: 'vapi.websocket', websocketCallUrl: TRANSPORT_URL },
  monitor: { controlUrl: CONTROL_URL },
  ...more,
});

const text = JSON.stringify;

/** The platform, as `wireContract` needs it. */
export const vapiContractDouble = () => ({
  receive: () => undefined,
  ready: () => [],
  speech: (ms: number) => [tone(ms)],
  unknown: (id: string) => text({ type: 'of-a-later-version', id }),
  echoes: (words: string) => [
    text({ ...client.started(), newAssistant: { name: words } }),
    text({ ...client.speech('assistant', 'started'), note: words }),
    text(client.transcript('assistant', words)),
    text(client.transcript('user', words)),
    text({ ...client.transcript('user', 'x'), role: words }),
    text(client.model(`${words} `, words)),
    text(client.spoken(words)),
    text(client.spoken(`${words} ${words}`, 1, alignment(`${words} ${words}`, 300))),
    text(client.spoken(words, 1, progress(1, 1))),
    text({ ...client.spoken(words), timing: { type: 'word-alignment', words } }),
    text(client.voiceInput(words)),
    text({ ...client.interrupted(), note: words }),
    text(client.tools(words, words, { value: words, [words]: 1 })),
    text({ type: 'tool-calls', toolCallList: [{ id: words }] }),
    text(client.conversation(words)),
    text({ ...client.hang(), note: words }),
    text(client.ended(words)),
    text(client.ended(`pipeline-error-${words}`)),
    text({ type: 'end-of-call-report', endedReason: `assistant-ended-call ${words}` }),
    text({ type: words, words }),
    `not JSON: ${words}`,
  ],
});
