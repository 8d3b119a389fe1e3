import type { InOrderSpec, SaysBeforeSpec } from '../definition/definition.js';
import { ref } from '../definition/json-schema.js';
import { LIMITS } from '../definition/limits.js';
import { eventText, identity, list, needsOfEvent, PLAIN } from './common.js';
import type { Kinds } from './kind.js';
import { check } from './parts-schema.js';

const EVENTS = {
  ...PLAIN,
  notInRecording: null,
};

export const IN_ORDER = {
  in_order: {
    ...EVENTS,
    schema: check(
      'In order',
      'All events happen, in this order. The first time that each happens counts; an event that is listed twice must happen twice.',
      {
        events: {
          type: 'array',
          description: 'Words of either side and tool calls',
          items: ref('EventMatcher'),
          minItems: 2,
          maxItems: LIMITS.events,
          examples: [[{ text: 'shall I book' }, { text: 'yes', speaker: 'caller' }, { tool: 'book_table' }]],
        },
      },
      ['events'],
    ),
    needs: ({ events }) => events.flatMap(needsOfEvent),
    describe: ({ events }) => {
      const texts = events.map((event) => eventText(event));
      return `in this order: ${list(texts, ', then ')}`;
    },
    events: ({ events }) => events.map((event, index) => [['events', index], event]),
  },
} satisfies Pick<Kinds, InOrderSpec['type']>;

export const SAYS_BEFORE = {
  says_before: {
    ...EVENTS,
    schema: check(
      'Says before',
      'Both are said, `first` before `then`.',
      {
        first: { allOf: [ref('SpokenMatcher')], description: 'What is said earlier' },
        then: { allOf: [ref('SpokenMatcher')], description: 'What is said later' },
      },
      ['first', 'then'],
    ),
    needs: ({ first, then }) => [...needsOfEvent(first), ...needsOfEvent(then)],
    describe: ({ first, then }) => `${eventText(first)} before ${eventText(then)}`,
    violations: ({ first, then }) => (identity(first) === identity(then) ? [[['then'], 'must differ from first']] : []),
    subject: ({ type, first, then }) => [`${type} ${identity(first)} ${identity(then)}`, type],
    events: ({ first, then }) => [
      [['first'], first],
      [['then'], then],
    ],
  },
} satisfies Pick<Kinds, SaysBeforeSpec['type']>;
