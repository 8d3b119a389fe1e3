import type { AudioFormat } from '../../../../audio/index.js';
import { line, lineRateOf, type Variables, variables } from '../../modules/common-options.js';
import type { AgentCall, AgentEndpoint } from '../../modules/endpoint.js';

/** The options of a connection, as their validation guarantees. */
export interface VapiOptions {
  readonly variables?: Variables;
  readonly line?: 'wide' | 'telephone';
}

/** Options of `vapi`, and of `vapi-chat`. */
export const VOICE_OPTIONS = { variables, line } as const;
export const TEXT_OPTIONS = { variables } as const;

/** The format in both directions: it is ours to choose. */
export const formatOf = (options: AgentEndpoint['options']): AudioFormat & { readonly encoding: 'mulaw' | 'pcm16' } =>
  lineRateOf(options) === 8_000 ? { encoding: 'mulaw', rate: 8_000 } : { encoding: 'pcm16', rate: 16_000 };

/** What both protocols send of a call: whose it is, and the variables. Nothing else of the assistant is overridden. */
export function callFields({ assistantId, callId, variables: values }: AgentCall, options: VapiOptions): object {
  const variableValues = values ?? options.variables ?? {};
  return {
    assistantId: assistantId.toWellFormed(),
    name: markOf(callId),
    ...(Object.keys(variableValues).length > 0 && { assistantOverrides: { variableValues } }),
  };
}

/** Names the attempt in the records of the platform, which takes 40 characters. */
export const markOf = (callId: string): string => `vat:${callId}`;
