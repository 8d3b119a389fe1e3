import { flag, list, object, oneOf, orNull as or, ref, text } from '../../../platform/openapi/schema-parts.js';

/** How a call ended. */
export const ENDED = { by: oneOf('agent', 'caller', 'tester'), code: text, reason: text };

/** How an imported call is known. */
export const RECORDED = {
  ...object({ by: oneOf('recording', 'transcript'), isProduction: flag }, ['isProduction']),
  description: 'Of an imported call: whether its sound is known; `isProduction` with `origin` `production`',
};

/** JSON Schema of what a call was imported with. */
export const IMPORT_SCHEMAS = {
  CallPreliminary: object({
    outcome: oneOf('passed', 'failed', 'invalid', 'error'),
    checks: { ...list(ref('CheckResult')), description: 'Without times, which only the recording shows' },
  }),
  CallImport: object({
    origin: { ...oneOf('import', 'production'), description: 'Whose call it was' },
    externalId: { ...or(text), description: "The call's name where it was recorded" },
    endedReason: { ...or(text), description: 'Why it ended, in the words of its platform' },
    reported: {
      ...{ type: ['object', 'null'], additionalProperties: true },
      description: 'What its platform measured; it decides nothing',
    },
  }),
} as const;
