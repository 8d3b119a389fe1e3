import { alignmentOf, server, tone } from './messages.js';

/** A signed address, as the platform's API returns it. */
export const SIGNED_URL =
  'wss://api.elevenlabs.io/v1/convai/conversation?agent_id=a&conversation_signature=7Kda3xYWtZDeRCZaUZKa';

const text = JSON.stringify;

/** The platform, as `wireContract` needs it. */
export const elevenlabsContractDouble = () => ({
  receive: () => undefined,
  ready: () => [text(server.metadata())],
  speech: (ms: number) => [text(server.audio(1, tone(ms)))],
  unknown: (id: string) => text({ type: 'of_a_later_version', id }),
  echoes: (words: string) => [
    text({ ...server.metadata(), note: words }),
    text({ ...server.metadata(), conversation_initiation_metadata_event: { agent_output_audio_format: words } }),
    text({ ...server.audio(1, tone(100)), note: words }),
    text(server.audio(2, tone(400), alignmentOf(`${words} `, 400))),
    text(server.response(words)),
    text(server.correction(words, words)),
    text(server.part('delta', words)),
    text(server.heard(words)),
    text({ ...server.interruption(1), note: words }),
    text({ ...server.ping(1), note: words }),
    text(server.clientTool(words, words, { value: words, [words]: 1 })),
    text(server.toolRequest(words, words)),
    text(server.toolResponse(words, words)),
    text(server.fullToolResponse('t', 'search', words)),
    text({ ...server.guardrail(), note: words }),
    text(server.error(1011, words, words)),
    text(server.error(1008, 'max_duration_exceeded', words)),
    text({ type: words, words }),
    text({ type: 'audio', audio_event: { audio_base_64: 1, event_id: words } }),
    `not JSON: ${words}`,
  ],
});
