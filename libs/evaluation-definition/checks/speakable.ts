import type { SpeakableSpec } from '../definition/definition.js';
import { PLAIN } from './common.js';
import type { Kinds } from './kind.js';
import { allowed, check } from './parts-schema.js';

export const SPEAKABLE = {
  speakable: {
    ...PLAIN,
    schema: check(
      'Speakable',
      'The agent says nothing that a voice would stumble over: Markdown, web and e-mail addresses, emoji, long runs of digits.',
      {
        maxDigits: {
          type: 'integer',
          description: 'Maximum number of digits run together; 4 if absent, as in years',
          minimum: 1,
          maximum: 20,
        },
        allow: allowed,
      },
      [],
    ),
    needs: () => ['words'],
    describe: () => 'the agent says nothing that a voice would stumble over',
    isProhibition: () => true,
    ofAgentAlone: true,
    notInRecording: null,
  },
} satisfies Pick<Kinds, SpeakableSpec['type']>;
