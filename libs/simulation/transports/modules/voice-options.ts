import type { ProtocolOption } from './module.js';

/**
 * Whose words of the agent count on a voice call. `auto`: those of its protocol, else what a transcription server heard.
 * `heard`: what the server heard. `off`: nothing is sent to a server.
 */
export const TRANSCRIPTION_MODES = ['auto', 'heard', 'off'] as const;
export type TranscriptionMode = (typeof TRANSCRIPTION_MODES)[number];

/** Options that every protocol of voice calls has. */
export const VOICE_OPTIONS = {
  transcription: {
    isSecret: false,
    description:
      "`auto`: the agent's words are those of the protocol, else what the transcription server of `STT_BASE_URL` heard; `heard`: always what the server heard; `off`: no audio is sent to it. By default the setting of the provider, else `auto`",
    violation: (value) =>
      (TRANSCRIPTION_MODES as readonly unknown[]).includes(value) ? undefined : 'must be auto, heard or off',
  },
} as const satisfies Readonly<Record<string, ProtocolOption>>;
