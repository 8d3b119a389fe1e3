import { DataSource } from 'typeorm';
import { ProviderKeysService } from '../../src/modules/provider-keys/provider-keys.service.js';
import { committedDocument, operations, pathFor, Prober, type Subject } from '../support/conformance.js';
import { createValidator } from '../support/openapi-validator.js';
import { createTestApp, type TestApp } from '../support/test-app.js';

interface FieldSchema {
  readonly type: string | string[];
  readonly format?: string;
  readonly enum?: unknown[];
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
}

interface BodySchema {
  readonly properties: Record<string, FieldSchema>;
  readonly required?: string[];
}

/** Every field of every request body, with the schema that the document has for it. */
const fields = operations.flatMap((operation) => {
  const reference = operation.operation.requestBody?.content['application/json']?.schema as
    { $ref: string } | undefined;
  const schema = reference && committedDocument.components.schemas[reference.$ref.split('/').at(-1) ?? ''];
  const { properties = {}, required = [] } = (schema ?? {}) as Partial<BodySchema>;
  return Object.entries(properties).map(([field, of]) => ({
    ...operation,
    field,
    of,
    isRequired: required.includes(field),
  }));
});

/** What the document allows a field, at the edges. */
function allowed({
  type,
  format,
  enum: values,
  minLength = 0,
  maxLength = 0,
  minimum,
  maximum,
}: FieldSchema): unknown[] {
  const types = [type].flat();
  const none = types.includes('null') ? [null] : [];
  if (values) return values;
  if (types.includes('boolean')) return [true, false, ...none];
  if (types.includes('number')) return [minimum, maximum, 1, 0.25, ...none];
  if (format === 'uri') return [...none, 'https://example.com/'.padEnd(maxLength, 'x'), 'http://[::1]:8080/a?b=c#d'];
  return [...none, 'x'.repeat(minLength), '🙂'.repeat(maxLength), ' "\\\n\u0001ä'];
}

/** What it does not allow: other types, null where it is not listed, and what lies beyond the edges. */
function refused({
  type,
  format,
  enum: values,
  minLength = 0,
  maxLength = 0,
  minimum,
  maximum,
}: FieldSchema): unknown[] {
  const types = [type].flat();
  const always = [[], {}, ...(types.includes('null') ? [] : [null])];
  if (values) return [...always, 7, '', 'NOPE', String(values[0]).toLowerCase()];
  if (types.includes('boolean')) return [...always, 'true', 0, 1];
  if (types.includes('number')) {
    return [
      ...always,
      '1',
      true,
      ...(minimum === undefined ? [] : [minimum - 0.01]),
      ...(maximum === undefined ? [] : [maximum + 0.01]),
    ];
  }
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

describe('request bodies are taken and refused as the served document says, field by field', () => {
  let app: TestApp;
  let subject: Subject;
  let prober: Prober;

  beforeAll(async () => {
    app = await createTestApp();
    subject = await app.createWorkspace();
    prober = new Prober(app.url, createValidator(committedDocument));
    // Without a default key, what is allowed for `isUsingDefaultApiKey` would depend on the other fields.
    for (const provider of [1, 2, 3, 4]) {
      await app.nest.get(ProviderKeysService).put(subject.workspaceId, `AGENT_PROVIDER_${provider}`, 'default-key');
    }
  });
  afterAll(() => app.close());

  it.each(fields)('$name, $field', async ({ field, of, isRequired, ...operation }) => {
    const path = await pathFor(app.url, app.nest.get(DataSource).manager, subject, operation.template);
    const [example] = operation.bodies as Record<string, unknown>[];
    const success = operation.statuses.find((status) => status < 300) ?? 0;
    const send = (status: number, body: object) =>
      prober.expect(operation, status, { path, key: subject.apiKey, body });

    // Any text has the form of a workspace, but only the key's own may be named.
    const values = field === 'workspaceId' ? [null, subject.workspaceId] : allowed(of);
    for (const value of values) await send(success, { ...example, [field]: value });

    for (const value of refused(of)) {
      const { body } = await send(400, { ...example, [field]: value });
      expect(body.message).toBe('Invalid input data');
      expect(body.issues).toEqual([{ message: expect.stringMatching(new RegExp(`^${field} must `)) }]);
    }

    const { [field]: _left, ...without } = example ?? {};
    // Other rules than those of the field itself may need a credential.
    const needsKey = field === 'apiKey' && { isUsingDefaultApiKey: true };
    await send(isRequired ? 400 : success, { ...without, ...needsKey });
  });
});
