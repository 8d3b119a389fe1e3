import { type Availability, bookingReference, checkAvailability, type BookingRequest } from './restaurant.js';

export interface BookingArguments extends BookingRequest {
  readonly name: string;
  readonly phone: string;
}

/** A tool call made by the dialogue. */
export type ToolUse =
  | { readonly name: 'check_availability'; readonly arguments: BookingRequest }
  | { readonly name: 'book_table'; readonly arguments: BookingArguments }
  | { readonly name: 'cancel_booking'; readonly arguments: { readonly reference: string } }
  | { readonly name: 'end_call'; readonly arguments: Readonly<Record<string, never>> };
export type ToolName = ToolUse['name'];

/** The result of any tool. Hosted tools may return anything, so every field is optional. */
export interface ToolResult {
  readonly available?: boolean;
  readonly reason?: string;
  readonly alternatives?: readonly string[];
  readonly reference?: string;
  readonly error?: string;
}

/** Runs a tool as the restaurant's own system would. */
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

/** Parses the result of a hosted tool; fields of the wrong type are omitted. */
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
