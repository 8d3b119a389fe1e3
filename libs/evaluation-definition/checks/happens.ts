import { canonical } from '../definition/canonical.js';
import { LIMITS } from '../definition/limits.js';
import type { Placement, SaysSpec, ToolSpec } from '../definition/definition.js';
import { anchorsOf, anchorText, eventText, identity, list, needsOfEvent, ownFields, PLAIN, shown } from './common.js';
import type { CheckKind, EventPart, Found, Kinds, Subject } from './kind.js';
import { ANY_TOOL } from '../definition/events.js';
import { check, placement, spokenFields, toolFields, turn, turnNumber } from './parts-schema.js';
import { oneMatcher } from '../definition/json-schema.js';

type Spec = SaysSpec | ToolSpec;

/** An event that happens, or does not, where and as often as the check says. */
const EVENT = {
  ...PLAIN,
  needs: (spec) => eventsOf(spec).flatMap(([, event]) => needsOfEvent(event)),
  describe: (spec) => `${whatHappens(spec)}${turnText(spec)}${placementText(spec)}`,
  violations: timesViolations,
  events: eventsOf,
  notInRecording: null,
} satisfies Partial<CheckKind<Spec>>;

const SAID = { ...EVENT, subject: wordsAsked };
const CALLED = { ...EVENT, subject: (spec: ToolSpec) => ownFields(spec, 'calls_tool') };

const saying = (title: string, description: string) =>
  check(title, description, { ...spokenFields, turn, ...placement }, [], oneMatcher);
const calling = (title: string, description: string) =>
  check(title, description, { ...toolFields, turn: turnNumber, ...placement }, ['tool']);
const neverCalling = check(
  'Never calls a tool',
  'The agent never calls the tool, or fewer than `times.min` times. Without `tool` it calls none.',
  {
    ...toolFields,
    tool: {
      ...toolFields.tool,
      description: `${toolFields.tool.description}; \`${ANY_TOOL}\` stands for any`,
      default: ANY_TOOL,
    },
    except: {
      type: 'array',
      description: 'Without `tool`: tools that it may call nevertheless',
      items: { type: 'string', minLength: 1, maxLength: LIMITS.tool },
      maxItems: LIMITS.allowed,
      examples: [['end_call']],
    },
    turn: turnNumber,
    ...placement,
  },
  [],
);

export const HAPPENS = {
  says: {
    ...SAID,
    schema: saying('Says', 'The speaker says this: at least once, or as often as `times` says.'),
  },
  never_says: {
    ...SAID,
    schema: saying('Never says', 'The speaker never says this, or fewer than `times.min` times.'),
    isProhibition: () => true,
  },
  calls_tool: {
    ...CALLED,
    schema: calling('Calls a tool', 'The agent calls the tool: at least once, or as often as `times` says.'),
  },
  never_calls_tool: {
    ...CALLED,
    schema: neverCalling,
    isProhibition: () => true,
  },
} satisfies Pick<Kinds, Spec['type']>;

const isNever = ({ type }: Spec): boolean => type === 'never_says' || type === 'never_calls_tool';

function eventsOf(spec: Spec): EventPart[] {
  return [[[], spec], ...anchorsOf(spec)];
}

function wordsAsked(spec: SaysSpec): Subject {
  const { turn: inTurn, after, before, times } = spec;
  return [`says ${identity(spec)} ${canonical({ turn: inTurn, after, before, times })}`, spec.type];
}

function whatHappens(spec: Spec): string {
  const isAny = spec.type === 'never_calls_tool' && spec.tool === ANY_TOOL;
  return isAny ? `agent calls no tool${exceptText(spec)}` : eventText(spec, isNever(spec));
}

/** The tools that it may call nevertheless. */
export const exceptText = ({ except = [] }: Pick<ToolSpec, 'except'>): string =>
  except.length === 0 ? '' : ` except ${shown(list(except, ', '))}`;

function timesViolations(spec: Spec): Found[] {
  if ('except' in spec && spec.tool !== ANY_TOOL)
    return [[['except'], 'has no effect with tool: leave tool out to forbid all others']];
  if (!spec.times) return [];
  const { min, max } = spec.times;
  if (isNever(spec)) {
    if (max !== undefined)
      return [[['times', 'max'], `is not possible in ${spec.type}: use times.min, or ${spec.type.slice(6)}`]];
    return min === 0 ? [[['times', 'min'], 'must be at least 1, or the check could never hold']] : [];
  }
  if (max === undefined)
    return min === 0 ? [[['times', 'min'], 'must be at least 1, or the check could never fail']] : [];
  return (min ?? 1) > max ? [[['times', 'max'], `must not be less than times.min (${min ?? 1})`]] : [];
}

function turnText({ turn: inTurn }: Spec): string {
  if (inTurn === undefined) return '';
  return typeof inTurn === 'number' ? ` in turn ${inTurn}` : ` in the ${inTurn} turn`;
}

const placementText = ({ times, ...anchors }: Placement): string =>
  `${anchorText(anchors)}${times ? `, ${timesText(times)}` : ''}`;

function timesText({ min, max }: NonNullable<Placement['times']>): string {
  if (max === undefined) return `${min} times or more`;
  return (min ?? 1) === max ? (max === 1 ? 'exactly once' : `exactly ${max} times`) : `${min ?? 1} to ${max} times`;
}
