import { REDACTED, type Redaction } from '../../text/index.js';
import { guarded, type JsonValue } from './text.js';

/** A call of a tool as the agent made it, with the tester's result. */
export interface SaidCall {
  readonly name: string;
  readonly arguments: { readonly [name: string]: JsonValue } | null;
  readonly rawArguments?: string;
  readonly result?: JsonValue;
}

export function redacted({ name, arguments: args, rawArguments, result }: SaidCall, redaction: Redaction): SaidCall {
  const said = { name, arguments: args, ...(rawArguments !== undefined && { rawArguments }) };
  const call = guarded({ ...said, ...(result !== undefined && { result }) }, (text) => redaction.clean(text));
  const json = JSON.stringify(call);
  const clean = redaction.clean(json);
  if (clean === json) return call;
  try {
    return JSON.parse(clean) as SaidCall;
  } catch {
    // A secret that contains JSON.
    return { name: call.name, arguments: null, rawArguments: clean, ...(result !== undefined && { result: REDACTED }) };
  }
}
