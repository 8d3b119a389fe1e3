import type { Path } from '../../json-input/index.js';
import type { CheckType, EventMatcher, NestedCheck, PartialDefinition } from '../definition/definition.js';
import type { JsonSchema } from '../definition/json-schema.js';

/** What a check needs beside the times of a call: words or tool calls of the agent, or a voice call. */
export type Need = 'words' | 'toolCalls' | 'voice';

/** A violation; the path of the field is relative to the check. */
export type Found = readonly [field: Path, text: string];

/** A check inside another one, and an event that a check refers to; steps are relative to the check. */
export type NestedPart = readonly [steps: Path, check: NestedCheck];
export type EventPart = readonly [steps: Path, event: EventMatcher];

/**
 * What a check asks about, and which side it takes: two checks with the same subject are duplicates if they take the same
 * side, and contradict each other otherwise.
 */
export type Subject = readonly [about: string, side: string];

/** What a check can be about beside words and tools. */
export type Act = 'keys' | 'transfer' | 'hangUp';

/**
 * What a type of check is, apart from its evaluation. Nothing is optional, so that the compiler finds what is missing; what
 * the checks inside a composed one need, contain or refer to is added by `checks.ts`.
 */
export interface CheckKind<S> {
  /** From `check` in `parts-schema.ts`; takes the type. */
  readonly schema: (type: string) => JsonSchema;
  needs(check: S): readonly Need[];
  /** What results call a check without a name, as a clause. */
  describe(check: S, nested: (check: NestedCheck) => string): string;
  /** Values that the schema allows and with which the check could never fail or never be met. */
  violations(check: S, definition: PartialDefinition): readonly Found[];
  /** Whether it only forbids to say or do something: an evaluation of such checks alone gets a warning. A limit of an amount or a time is not one. */
  isProhibition(check: S, nested: (check: NestedCheck) => boolean): boolean;
  subject(check: S): Subject;
  parts(check: S): readonly NestedPart[];
  events(check: S): readonly EventPart[];
  /** Keys of the caller, and what an agent does without a word or a tool: a call in which it did nothing else tests the check. */
  acts(check: S): readonly Act[];
  /** Whether it is about how the agent speaks, reacts and transmits, whatever the caller says. */
  readonly ofAgentAlone: boolean;
  /** Whether its findings are figures, which stay when the texts of a call are deleted: nothing in their details was said. */
  readonly keepsDetail: boolean;
  /** What only the call itself shows, if the check is about that; otherwise recordings of other calls can decide it. */
  readonly notInRecording: string | null;
}

/** The check of a type; several types may share one shape. */
export type OfType<T extends CheckType, C = NestedCheck> = C extends { readonly type: infer U }
  ? T extends U
    ? C
    : never
  : never;

export type Kinds = { readonly [T in CheckType]: CheckKind<OfType<T>> };
