import type { SpokenMatcher, Speaker } from './script.js';

/** Instead of the name of a tool: any. */
export const ANY_TOOL = '*';

/** A call of a tool by the agent. */
export interface ToolMatcher {
  /** Its name, or `ANY_TOOL`. */
  readonly tool: string;
  /** Each given argument must be present with the same value. */
  readonly arguments?: Readonly<Record<string, unknown>>;
  /** A JSON Schema that the arguments must fit. */
  readonly argumentsSchema?: Readonly<Record<string, unknown>>;
}

/** Something that happens on a call: words of one side, or a tool call. */
export type EventMatcher = SpokenMatcher | ToolMatcher;

/** How often something happens. */
export interface Times {
  readonly min?: number;
  readonly max?: number;
}

/** Where on the timeline something has to happen. `after` and `before` refer to the first time that the event happens. */
export interface Placement {
  readonly after?: EventMatcher;
  readonly before?: EventMatcher;
  readonly times?: Times;
}

/** 0 is the agent's greeting; turn n are the caller's nth words and the answer to them. */
export type TurnSelector = number | 'first' | 'last';

/** Which of several occurrences has the value that counts. */
export type ValueOccurrence = 'first' | 'last';

/** A value that a named group of a pattern finds in the words of one side. */
export interface SpokenValue {
  readonly pattern: string;
  readonly speaker: Speaker;
  /** May be left out if the pattern has only one. */
  readonly group?: string;
  readonly occurrence: ValueOccurrence;
}
/** A value in the arguments or in the result of a tool call. */
export interface ToolValue {
  readonly tool: string;
  /** Path such as `guest.name` or `items[0].price`. */
  readonly argument?: string;
  readonly result?: string;
  readonly occurrence: ValueOccurrence;
}
export interface FixedValue {
  readonly value: string | number | boolean;
}
/** What values are; absent: anything. The letters of a name count, also where no table reads it. */
export interface OfKind {
  readonly kind?: 'name';
}

export type ValueSource = SpokenValue | ToolValue | FixedValue;
