import { type Availability, bookingReference, checkAvailability, type BookingRequest } from './restaurant.js';

export interface BookingArguments extends BookingRequest {
  readonly name: string;
  readonly phone: string;
}

/** A call of a tool as the dialogue wants it. */
export type ToolUse =
  | { readonly name: 'check_availability'; readonly arguments: BookingRequest }
  | { readonly name: 'book_table'; readonly arguments: BookingArguments }
  | { readonly name: 'cancel_booking'; readonly arguments: { readonly reference: string } }
  | { readonly name: 'end_call'; readonly arguments: Readonly<Record<string, never>> };
export type ToolName = ToolUse['name'];

/** What any of the tools may answer; a tool that somebody else carries out may answer anything at all. */
export interface ToolResult {
  readonly available?: boolean;
  readonly reason?: string;
  readonly alternatives?: readonly string[];
  readonly reference?: string;
  readonly error?: string;
}

/** Carries out a tool the way the restaurant's own system does. */
export function runTool(use: ToolUse): ToolResult {
  switch (use.name) {
    case 'check_availability':
      return checkAvailability(use.arguments) satisfies Availability;
    case 'book_table':
      return { reference: bookingReference(use.arguments, use.arguments.name) };
    case 'cancel_booking':
      return { reference: use.arguments.reference };
    case 'end_call':
      return {};
  }
}

/** Reads what a caller's own tool has answered; what does not have the right type is left out. */
export function readToolResult(content: string): ToolResult {
  let value: unknown;
  try {
    value = JSON.parse(content);
  } catch {
    return {};
  }
  if (typeof value !== 'object' || value === null) return {};
  const { available, reason, alternatives, reference, error } = value as Readonly<Record<string, unknown>>;
  return {
    ...(typeof available === 'boolean' && { available }),
    ...(typeof reason === 'string' && { reason }),
    ...(Array.isArray(alternatives) && {
      alternatives: alternatives.filter((time): time is string => typeof time === 'string').slice(0, 5),
    }),
    ...(typeof reference === 'string' && { reference: reference.slice(0, 40) }),
    ...(typeof error === 'string' && error !== '' && { error }),
  };
}
