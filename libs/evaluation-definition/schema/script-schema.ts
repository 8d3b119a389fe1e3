import { LIMITS } from '../definition/limits.js';
import { requiredEach, type JsonSchema, matcherFields, oneMatcher, ref } from '../definition/json-schema.js';
import { BACKCHANNELS, ENDS_UNLESS, NOISES } from '../definition/script.js';

const line = (description: string, example: string): JsonSchema => ({
  type: 'string',
  description,
  minLength: 1,
  maxLength: LIMITS.line,
  examples: [example],
});

/** A line that may hesitate. Types side by side instead of alternatives: violations then name the part that is wrong. */
const hesitantLine = (description: string, example: string): JsonSchema => ({
  ...line(description, example),
  type: ['string', 'array'],
  items: {
    type: ['string', 'object'],
    description: 'A text, or a pause of `pauseMs` milliseconds',
    minLength: 1,
    maxLength: LIMITS.line,
    properties: {
      pauseMs: {
        type: 'integer',
        description: 'Milliseconds for which the caller hesitates; it keeps its turn',
        minimum: 1,
        maximum: LIMITS.pauseMs,
      },
    },
    required: ['pauseMs'],
    additionalProperties: false,
  },
  minItems: 1,
  maxItems: LIMITS.lineParts,
  examples: [example, ['My number is', { pauseMs: 1200 }, 'five five five.']],
});

const afterMs = (description: string): JsonSchema => ({
  type: 'integer',
  description,
  minimum: 0,
  maximum: LIMITS.afterMs,
  examples: [1500],
});

export const PRESSED_KEYS = '^[0-9*#A-Dw]*$';

const expectations = (description: string) => ({
  type: 'array',
  description,
  items: ref('Check'),
  maxItems: LIMITS.expectations,
  examples: [[{ type: 'calls_tool', tool: 'check_availability', times: { max: 1 } }]],
});

const when = {
  allOf: [ref('Condition')],
  description: "The step is skipped unless this holds for the agent's last response",
};

/** Named parts of the schema that describe what a scripted caller does. */
export const scriptDefinitions = {
  Matcher: {
    title: 'Matcher',
    description: 'Matches part of what was said, by either `text` or `pattern`.',
    type: 'object',
    properties: matcherFields,
    additionalProperties: false,
    ...oneMatcher,
    examples: [{ text: 'your name' }],
  },
  Condition: {
    title: 'Condition',
    description: "A condition on the agent's last response. If both are given, both must hold.",
    type: 'object',
    properties: {
      says: { allOf: [ref('Matcher')], description: 'The agent said this' },
      notSays: { allOf: [ref('Matcher')], description: 'The agent did not say this' },
    },
    additionalProperties: false,
    minProperties: 1,
    examples: [{ says: { text: 'your name' } }],
  },
  ScriptAnswer: {
    title: 'Answer',
    description: 'A line that the caller says whenever the agent asks for it.',
    type: 'object',
    properties: {
      when: { allOf: [ref('Condition')], description: 'Condition that recognises the question of the agent' },
      say: hesitantLine('Line that the caller answers with', 'Rossi, with a double s.'),
      expect: expectations(
        'Checks of what the agent does after this answer, until the caller speaks again; each time that it is given',
      ),
    },
    required: ['when', 'say'],
    additionalProperties: false,
  },
  ScriptStep: {
    title: 'Step of a script',
    description:
      'One action of the scripted caller: `say` a line, give `answers` to questions in any order, be silent for `waitSeconds`, or `end` the call. On voice calls it can also make a `backchannel` or `noise` and `press` keys.',
    type: 'object',
    properties: {
      when,
      say: hesitantLine(
        'Line that the caller says; the next step follows the response. A list of texts with `pauseMs` between them is a line with hesitations: still one turn of the caller',
        "Hello, I'd like to book a table.",
      ),
      to: {
        allOf: [ref('Condition')],
        description:
          'Used with `say`: words of the agent that the line answers. It is said to these words once, even if lines before it have not been said, or it was said to others. Not with `when` and `bargeIn`',
      },
      bargeIn: {
        type: 'object',
        description:
          'Used with `say`: the caller says the line over the response to the `say` before it. If the agent ends its turn first, the line is said at once. Over text it is said after the response',
        properties: { afterMs: afterMs("Audible milliseconds of the agent's turn before the caller begins") },
        required: ['afterMs'],
        additionalProperties: false,
        examples: [{ afterMs: 1200 }],
      },
      answers: {
        type: 'array',
        description:
          'Answers to questions in any order. In every turn the caller says all matching answers, in the order of the list. The step ends at the first turn without a matching answer or, with `until`, when that condition holds. The turn that ends it belongs to the next step',
        items: ref('ScriptAnswer'),
        minItems: 1,
        maxItems: LIMITS.answers,
      },
      until: {
        allOf: [ref('Condition')],
        description: 'Used with `answers`: the step continues until this holds. Requires `otherwise`',
      },
      otherwise: line(
        'Used with `until`: line that the caller says if no answer matches',
        'Sorry, could you say that again?',
      ),
      backchannel: {
        type: 'string',
        description:
          'Sound by which the caller shows during the response to the `say` before it that it listens, without taking the turn. Requires `afterMs`. Left out over text',
        enum: BACKCHANNELS,
      },
      noise: {
        type: 'string',
        description:
          "Noise on the caller's side: with `afterMs` during the response to the `say` before it, else in the silence after the agent's turn. Left out over text",
        enum: NOISES,
      },
      afterMs: afterMs(
        "Used with `backchannel` and `noise`: audible milliseconds of the agent's turn before the sound. If the turn ends first, the sound is left out",
      ),
      press: {
        type: 'string',
        description: 'Keys that the caller presses; `w` waits for half a second. Left out over text',
        minLength: 1,
        maxLength: LIMITS.keys,
        pattern: PRESSED_KEYS,
        patternErrorMessage: 'must consist of 0 to 9, *, #, A to D, and w for half a second',
        examples: ['123#'],
      },
      waitSeconds: {
        type: 'number',
        description: 'Seconds for which the caller is silent',
        minimum: 0,
        maximum: LIMITS.waitSeconds,
        examples: [5],
      },
      end: {
        type: 'string',
        description: 'Ends the call; the text is shown in the result as the reason',
        minLength: 1,
        maxLength: LIMITS.reason,
        examples: ['The table is booked'],
      },
      unless: {
        type: 'string',
        description:
          'Used with `end`, as the last step: the script has no answer if the agent has `asked` something, or has `answered` at all, and no line with `to` was said to these words. Checks that are not met by then are not decided; if one is not, the call is invalid',
        enum: ENDS_UNLESS,
      },
      expect: expectations(
        'Used with `say` and `answers`: checks of what the agent does after the line, until the caller speaks again; with `answers` after each line of the step',
      ),
    },
    additionalProperties: false,
    oneOf: requiredEach('say', 'answers', 'backchannel', 'noise', 'press', 'waitSeconds', 'end'),
    dependentRequired: {
      until: ['answers', 'otherwise'],
      otherwise: ['answers', 'until'],
      bargeIn: ['say'],
      to: ['say'],
      unless: ['end'],
      backchannel: ['afterMs'],
    },
    // As a condition, which draft-07 has too.
    if: { required: ['afterMs'] },
    then: { oneOf: requiredEach('backchannel', 'noise') },
    examples: [{ say: 'Hello' }],
    allOf: [{ if: { required: ['expect'] }, then: { anyOf: requiredEach('say', 'answers') } }],
  },
} as const;
