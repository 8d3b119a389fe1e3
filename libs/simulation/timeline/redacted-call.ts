import type { Redaction } from '../../text/index.js';
import type { JsonValue } from './text.js';

/** A call of a tool as the agent made it, with the tester's result. */
export interface SaidCall {
  readonly name: string;
  readonly arguments: { readonly [name: string]: JsonValue } | null;
  readonly rawArguments?: string;
  readonly result?: JsonValue;
}

export function redacted({ name, arguments: args, rawArguments, result }: SaidCall, redaction: Redaction): SaidCall {
  const call = {
    name,
    arguments: args,
    ...(rawArguments !== undefined && { rawArguments }),
    ...(result !== undefined && { result }),
  };
  const json = JSON.stringify(call);
  const clean = redaction.clean(json);
  if (clean === json) return call;
  try {
    return JSON.parse(clean) as SaidCall;
  } catch {
    // A secret that contains JSON.
    return { name: redaction.clean(call.name), arguments: null, rawArguments: clean };
  }
}
