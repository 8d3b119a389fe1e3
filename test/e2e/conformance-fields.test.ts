import { sample } from '../../libs/statistics/testing/sample.js';
import { AGENT_PROVIDERS } from '../../src/platform/config/agent-providers.js';
import { ProviderKeysService } from '../../src/modules/provider-keys/provider-keys.service.js';
import {
  bodySchema,
  committedDocument,
  withSwappedCase,
  operations,
  Prober,
  successStatus,
} from '../support/conformance.js';
import { createValidator } from '../support/openapi-validator.js';
import {
  pathFor,
  type WorkspaceWithKey,
  withExistingPersonality,
  WITHOUT_WORKER,
  withoutWebhookLimits,
} from '../support/resources.js';
import { createTestApp, type TestApp } from '../support/test-app.js';

interface FieldSchema {
  readonly type: string | string[];
  readonly format?: string;
  readonly enum?: unknown[];
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly items?: { readonly enum?: unknown[] };
  readonly minItems?: number;
  readonly uniqueItems?: boolean;
  readonly pattern?: string;
  readonly example?: unknown;
}

/** A time in the future, as required by some fields. */
const IN_A_DAY = new Date(Date.now() + 86_400_000).toISOString();
const A_DAY_AGO = new Date(Date.now() - 86_400_000).toISOString();

/** Valid values with another status than that of the operation. */
const OTHER_STATUSES: Readonly<Record<string, number>> = {
  // Nothing is created.
  'dryRun: true': 200,
  // The agent is reached over text.
  'medium: voice': 409,
};

/**
 * Fields with rules that their schema does not express: references, and the definition of an evaluation.
 * `evaluation-authoring.test.ts`, `evaluation-dates.test.ts`, `evaluation-variables.test.ts`, `evaluation-voice.test.ts`, `run-start.test.ts` and the specs of
 * agentVariables test them.
 */
const TESTED_ELSEWHERE = [
  'personalityId',
  'key',
  'tags',
  'language',
  'timezone',
  'script',
  'checks',
  'criteria',
  'variables',
  'history',
  'toolResults',
  'conditions',
  'agentVariables',
  // call-import-reported.test.ts and promoted-calls.test.ts have these.
  'appliesTo',
  'provisional',
  'evaluationIds',
  'evaluationKeys',
];

/** The same of a connection, tested by `connections.test.ts`: an address of its protocol, and objects with free names. */
const OF_CONNECTION = ['url', 'headers', 'options'];

/** Which keys, protocols and addresses are valid depends on the account's platform; `assistants.test.ts` tests them. */
const OF_ACCOUNTS = { template: '/providers/{provider}/assistants', fields: ['apiKey', 'protocol', 'url'] };

/** A reference, free JSON, and a time that may be past; `tool-calls.test.ts` tests them. */
const OF_TOOL_CALLS = { template: '/tool-calls', fields: ['callId', 'arguments', 'result', 'at'] };

/** At most 30 days ago; `monitoring.test.ts` tests it. */
const OF_BACKFILLS = { template: '/agents/{id}/monitoring/backfill', fields: ['from'] };

/** A pattern, a zone and a nested body; `schedules.test.ts` tests them. */
const OF_SCHEDULES = ['/agents/{agentId}/schedules', '/schedules/{id}'].map((template) => ({
  template,
  fields: ['cron', 'timeZone', 'run'],
}));

/** What a value needs beside it: a protocol has addresses of its own, only callers without a script think. */
const BESIDE: Readonly<Record<string, object>> = {
  'fillers: true': { script: [] },
  'scope: both': { appliesTo: { type: 'says', speaker: 'caller', text: 'table' } },
  'links: true': { format: 'slack' },
  'protocol: openai-realtime': { url: 'wss://example.com/v1/realtime?model=gpt-realtime' },
  'protocol: elevenlabs': { url: 'https://example.com' },
  'protocol: elevenlabs-text': { url: 'https://example.com' },
  'protocol: vapi': { url: 'https://example.com' },
  'protocol: vapi-chat': { url: 'https://example.com' },
  'protocol: retell': { url: 'https://example.com' },
  'protocol: retell-text': { url: 'https://example.com' },
  'protocol: sip': { url: 'sip:agent@sip.example.com' },
};

/** All other fields of all request bodies, with their schema in the document. */
const fields = operations.flatMap((operation) => {
  const { properties = {}, required = [] } = bodySchema(operation) ?? {};
  const isEvaluation = 'scenarioText' in properties;
  const hasOtherRules = isEvaluation || 'evaluationIds' in properties;
  const elsewhere = 'firstSpeaker' in properties ? OF_CONNECTION : hasOtherRules ? TESTED_ELSEWHERE : [];
  const others = [OF_ACCOUNTS, OF_TOOL_CALLS, OF_BACKFILLS, ...OF_SCHEDULES].flatMap((each) =>
    each.template === operation.template ? each.fields : [],
  );
  const names = Object.entries(properties).filter(([field]) => ![...elsewhere, ...others].includes(field));
  return names.map(([field, schema]) => ({
    ...operation,
    field,
    schema: schema as FieldSchema,
    isRequired: required.includes(field),
    isEvaluation,
    withDefaultKey: 'isUsingDefaultApiKey' in properties,
  }));
});

/** Whether a pattern allows only certain texts, such as the example; others only exclude some. */
const isClosed = (pattern: string | undefined): boolean => pattern !== undefined && !new RegExp(pattern).test('x');

/** Values that the document allows for a field, at its limits. */
function allowedValues({
  type,
  format,
  enum: values,
  minLength = 0,
  maxLength = 0,
  minimum,
  maximum,
  items,
  pattern,
  example,
}: FieldSchema): unknown[] {
  const types = [type].flat();
  const none = types.includes('null') ? [null] : [];
  if (values) return values;
  if (types.includes('boolean')) return [true, false, ...none];
  if (types.includes('number')) return [minimum, maximum, 1, 0.25, ...none];
  if (types.includes('integer')) return [minimum, maximum];
  if (types.includes('array')) return [...(items?.enum ?? []).map((item) => [item]), items?.enum, ...none];
  if (isClosed(pattern)) return [...none, example];
  if (format === 'date-time') return [IN_A_DAY, IN_A_DAY.replace(/\.\d+Z$/, '+02:00'), ...none];
  if (format === 'uri') return [...none, 'https://example.com/'.padEnd(maxLength, 'x'), 'http://[::1]:8080/a?b=c#d'];
  return [...none, 'x'.repeat(minLength), '🙂'.repeat(maxLength), ' "\\\n\u0001ä'];
}

/** Values that it does not allow: other types, null if it is not listed, and values past the limits. */
function rejectedValues({
  type,
  format,
  enum: values,
  minLength = 0,
  maxLength = 0,
  minimum,
  maximum,
  items,
  minItems = 0,
  uniqueItems = false,
  pattern,
  example,
}: FieldSchema): unknown[] {
  const types = [type].flat();
  if (types.includes('array')) {
    const [item] = items?.enum ?? [];
    return [
      ...(types.includes('null') ? [] : [null]),
      ...[{}, '', String(item), 7, true, ['NOPE'], [null], [item, 7], [[item]]],
      ...(minItems > 0 ? [[]] : []),
      ...(uniqueItems ? [[item, item]] : []),
    ];
  }
  const step = types.includes('integer') ? 1 : 0.01;
  const always = [[], {}, ...(types.includes('null') ? [] : [null])];
  if (values) return [...always, 7, '', 'NOPE', withSwappedCase(String(values[0]))];
  if (types.includes('boolean')) return [...always, 'true', 0, 1];
  if (types.includes('number') || types.includes('integer')) {
    return [
      ...always,
      '1',
      true,
      ...(types.includes('integer') ? [1.5] : []),
      ...(minimum === undefined ? [] : [minimum - step]),
      ...(maximum === undefined ? [] : [maximum + step]),
    ];
  }
  if (isClosed(pattern)) return [...always, 7, true, '', `x${String(example)}`, `${String(example)}x`];
  if (format === 'date-time') return [...always, 7, true, '', 'tomorrow', IN_A_DAY.slice(0, 10), A_DAY_AGO];
  const texts = [
    'x'.repeat(maxLength + 1),
    'a\u0000b',
    'a\ud800b',
    ...(minLength > 0 ? ['x'.repeat(minLength - 1)] : []),
  ];
  return [
    ...always,
    7,
    true,
    ...texts,
    ...(format === 'uri' ? ['', 'nope', 'ftp://example.com', '//example.com'] : []),
  ];
}

describe('request bodies are accepted and rejected as the served OpenAPI document says, field by field', () => {
  let app: TestApp;
  let workspace: WorkspaceWithKey;
  let prober: Prober;

  beforeAll(async () => {
    // The document allows loopback addresses. Without a worker no events are sent.
    app = await createTestApp({ env: { ...WITHOUT_WORKER, OUTBOUND_ALLOWED_NETWORKS: '127.0.0.0/8,::1/128' } });
    withoutWebhookLimits(app);
    workspace = await app.createWorkspace();
    prober = new Prober(app.url, createValidator(committedDocument));
    // Without a default key, the allowed values of `isUsingDefaultApiKey` would depend on the other fields.
    for (const provider of AGENT_PROVIDERS) {
      await app.nest.get(ProviderKeysService).put(workspace.workspaceId, provider, 'default-key');
    }
  });
  afterAll(() => app.close());

  it.each(sample(fields))(
    '$name accepts and rejects $field as documented',
    async ({ field, schema, isRequired, withDefaultKey, isEvaluation, ...operation }) => {
      const path = await pathFor(app, workspace, operation.template);
      const given = operation.bodies[0]?.value as Record<string, unknown> | undefined;
      // A key must be unique, and the limits of an evaluation depend on its definition.
      const omitted = TESTED_ELSEWHERE.filter((name) => isEvaluation && name !== 'personalityId');
      const entries = Object.entries((await withExistingPersonality(app, workspace, given)) ?? {});
      const example = Object.fromEntries(entries.filter(([name]) => !omitted.includes(name)));
      const success = successStatus(operation);
      const send = (status: number, body: object) =>
        prober.expect(operation, status, { path, key: workspace.apiKey, body });

      // Any text is valid by the schema, but only the workspace of the key is allowed.
      const values = field === 'workspaceId' ? [null, workspace.workspaceId] : allowedValues(schema);
      for (const value of values) {
        const status = OTHER_STATUSES[`${field}: ${String(value)}`] ?? success;
        await send(status, { ...example, ...BESIDE[`${field}: ${String(value)}`], [field]: value });
      }

      for (const value of rejectedValues(schema)) {
        const { body } = await send(400, { ...example, [field]: value });
        expect(body.message).toBe('Invalid input data');
        expect(body.issues).toEqual([{ message: expect.stringMatching(new RegExp(`^${field} must `)), field }]);
      }

      const { [field]: _left, ...without } = example;
      // Without an API key the body is valid only if the default key is used.
      const needsKey = field === 'apiKey' && withDefaultKey && { isUsingDefaultApiKey: true };
      await send(isRequired ? 400 : success, { ...without, ...needsKey });
    },
  );
});
