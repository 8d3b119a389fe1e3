import type { TransfersSpec } from '../definition/definition.js';
import { LIMITS } from '../definition/limits.js';
import { eventText, list, needsOfEvent, PLAIN, shown } from './common.js';
import type { Kinds } from './kind.js';
import { check, placement } from './parts-schema.js';

/** Tools with which the platforms transfer a call: of Vapi, of Retell, of ElevenLabs. */
export const TRANSFER_TOOLS = ['transferCall', 'transfer_call', 'transfer_to_number'] as const;

export const TRANSFERS = {
  transfers: {
    ...PLAIN,
    schema: check(
      'Transfers',
      `The agent passes the call on: by its platform, such as <Dial> of TwiML, or with a tool. The tools ${TRANSFER_TOOLS.join(', ')} transfer calls, and those in \`as\`.`,
      {
        to: {
          type: 'string',
          description:
            'Only transfers to this target count. Telephone numbers are compared as numbers, so that formatting does not matter',
          minLength: 1,
          maxLength: LIMITS.matcherText,
          examples: ['+15550142'],
        },
        after: placement.after,
        as: {
          type: 'array',
          description: 'Names of further tools that transfer the call',
          items: { type: 'string', minLength: 1, maxLength: LIMITS.tool },
          maxItems: LIMITS.allowed,
          examples: [['hand_over']],
        },
      },
      [],
    ),
    needs: ({ after }) => (after ? needsOfEvent(after) : []),
    describe: ({ to, after, as = [] }) => {
      const tools = as.length === 0 ? '' : `, also with ${shown(list(as, ', '))}`;
      return `agent transfers the call${to === undefined ? '' : ` to "${shown(to)}"`}${after ? ` after ${eventText(after)}` : ''}${tools}`;
    },
    events: ({ after }) => (after ? [[['after'], after]] : []),
    acts: () => ['transfer'],
    notInRecording: 'transfers',
  },
} satisfies Pick<Kinds, TransfersSpec['type']>;
