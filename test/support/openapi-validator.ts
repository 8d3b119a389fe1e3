import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

/** The part of an OpenAPI 3.1 document that the validator reads. */
export interface OpenApiDocument {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, OpenApiOperation>>>>;
  readonly webhooks?: Readonly<Record<string, object>>;
  readonly components: {
    readonly headers: Readonly<Record<string, OpenApiHeader>>;
    readonly responses: Readonly<Record<string, OpenApiResponse>>;
    readonly schemas: Readonly<Record<string, object>>;
  };
}

export interface OpenApiOperation {
  readonly operationId: string;
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required?: boolean;
    readonly schema: object;
    readonly example?: unknown;
  }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, OpenApiMedia>> };
  readonly responses: Readonly<Record<string, OpenApiResponse | Reference>>;
  readonly security?: readonly object[];
}

export interface OpenApiMedia {
  readonly schema: object;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}

export interface OpenApiResponse {
  readonly headers?: Readonly<Record<string, OpenApiHeader | Reference>>;
  readonly content?: Readonly<Record<string, OpenApiMedia>>;
}

export interface OpenApiHeader {
  readonly required?: boolean;
  readonly schema: { readonly type?: string };
}

interface Reference {
  readonly $ref: string;
}

export interface OpenApiValidator {
  /** The operations of the document by `METHOD /path/{template}`. */
  readonly operations: ReadonlyMap<string, OpenApiOperation>;
  /**
   * Checks a response's status, media type, body (no fields beyond the schema) and headers against the document.
   * @param operation an operation id, or `METHOD /path/{template}`
   * @param body the parsed JSON, or the text of any other media type
   * @returns one sentence per violation; empty if the response conforms
   */
  check(operation: string, status: number, headers: Headers, body: unknown): string[];
  /** Checks the response to a path or method that is not in the document: 404, error body and common headers. */
  checkUnrouted(status: number, headers: Headers, body: unknown): string[];
  /** Checks a value against the schema at a JSON pointer of the document, such as `/components/schemas/Agent`. */
  checkSchema(pointer: string, value: unknown): string[];
}

const ROOT = 'https://openapi.test/document';
const METHODS = new Set(['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace']);

/** Creates a validator for responses. It is strict: fields that the document does not mention are violations. */
export function createValidator(document: object): OpenApiValidator {
  const openApi = closeSchemas(document) as OpenApiDocument;
  const ajv = new Ajv2020({ allErrors: true, allowUnionTypes: true });
  addFormats.default(ajv);
  // OpenAPI annotations are not JSON Schema keywords; nor are the document's own members, because the document is only
  // the container of the schemas, which are compiled one by one by reference.
  ajv.addVocabulary(['example', 'discriminator', 'externalDocs', 'xml', ...Object.keys(openApi)]);
  ajv.addSchema(openApi, ROOT, undefined, false);

  const operations = new Map<string, OpenApiOperation>();
  const byName = new Map<string, { operation: OpenApiOperation; pointer: string }>();
  for (const [path, item] of Object.entries(openApi.paths)) {
    for (const [method, operation] of Object.entries(item)) {
      if (!METHODS.has(method)) continue;
      const name = `${method.toUpperCase()} ${path}`;
      operations.set(name, operation);
      for (const key of [name, operation.operationId]) {
        byName.set(key, { operation, pointer: join('', 'paths', path, method) });
      }
    }
  }

  const compiled = new Map<string, ValidateFunction>();
  const checkSchema = (pointer: string, value: unknown): string[] => {
    const validate = compiled.get(pointer) ?? ajv.compile({ $ref: `${ROOT}#${encodeURI(pointer)}` });
    compiled.set(pointer, validate);
    if (validate(value)) return [];
    return (validate.errors ?? []).map(({ instancePath, message, params }) => {
      return `${instancePath || 'value'} ${message} ${JSON.stringify(params)}`;
    });
  };

  const resolve = <T extends object>(value: T | Reference, pointer: string): { value: T; pointer: string } => {
    if (!('$ref' in value)) return { value, pointer };
    const target = value.$ref.slice(1);
    const found = target
      .slice(1)
      .split('/')
      .reduce<unknown>((node, part) => (node as Record<string, unknown>)[unescape(part)], openApi);
    return { value: found as T, pointer: target };
  };

  const checkHeaders = (documented: OpenApiResponse['headers'], at: string, headers: Headers): string[] => {
    const violations: string[] = [];
    for (const [name, entry] of Object.entries(documented ?? {})) {
      const { value: header, pointer } = resolve(entry, join(at, name));
      const text = headers.get(name);
      if (text === null) {
        if (header.required) violations.push(`header ${name} is missing`);
        continue;
      }
      const value = /^(integer|number)$/.test(header.schema.type ?? '') && text.trim() !== '' ? Number(text) : text;
      violations.push(
        ...checkSchema(join(pointer, 'schema'), value).map((violation) => `header ${name}: ${text}: ${violation}`),
      );
    }
    const names = new Set(Object.keys(documented ?? {}).map((name) => name.toLowerCase()));
    for (const name of Object.keys(openApi.components.headers)) {
      if (headers.has(name) && !names.has(name.toLowerCase())) violations.push(`header ${name} is not documented here`);
    }
    return violations;
  };

  const checkContent = ({ content }: OpenApiResponse, at: string, headers: Headers, body: unknown): string[] => {
    if (Object.keys(content ?? {}).length === 0) return body === '' ? [] : ['a body is not documented'];
    const type = headers.get('content-type')?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
    const media = content?.[type];
    if (!media) return [`media type "${type}" is not documented, only ${Object.keys(content ?? {}).join(', ')}`];
    const violations = checkSchema(join(at, 'content', type, 'schema'), body).map((violation) => `body: ${violation}`);
    // The examples of an error contain the error code of its status.
    const codes = new Set(Object.values(media.examples ?? {}).map(({ value }) => (value as { code?: unknown }).code));
    const { code } = (body ?? {}) as { code?: unknown };
    if (!codes.has(undefined) && codes.size > 0 && !codes.has(code))
      violations.push(`body: code ${String(code)} does not belong to this status`);
    return violations;
  };

  const checkResponse = (entry: OpenApiResponse | Reference, at: string, headers: Headers, body: unknown): string[] => {
    const { value, pointer } = resolve(entry, at);
    return [
      ...checkHeaders(value.headers, join(pointer, 'headers'), headers),
      ...checkContent(value, pointer, headers, body),
    ];
  };

  return {
    operations,
    checkSchema,
    check(name, status, headers, body) {
      const found = byName.get(name);
      if (!found) return [`${name} is not an operation of the document`];
      const { operation, pointer } = found;
      const entry = operation.responses[status];
      const where = `${name} ${status}`;
      if (!entry)
        return [`${where}: the status is not documented, only ${Object.keys(operation.responses).join(', ')}`];
      return checkResponse(entry, join(pointer, 'responses', String(status)), headers, body).map(
        (violation) => `${where}: ${violation}`,
      );
    },
    checkUnrouted(status, headers, body) {
      if (status !== 404) return [`an unknown path returned ${status}`];
      return checkResponse({ $ref: '#/components/responses/NotFound' }, '', headers, body).map(
        (violation) => `unknown path: ${violation}`,
      );
    },
  };
}

const join = (pointer: string, ...parts: string[]): string =>
  [pointer, ...parts.map((part) => part.replaceAll('~', '~0').replaceAll('/', '~1'))].join('/');

const unescape = (part: string): string => part.replaceAll('~1', '/').replaceAll('~0', '~');

/** Returns a copy in which no object schema allows additional properties. */
function closeSchemas(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(closeSchemas);
  if (typeof node !== 'object' || node === null) return node;
  const copy = Object.fromEntries(Object.entries(node).map(([key, value]) => [key, closeSchemas(value)]));
  const isOpenObject = 'properties' in copy && copy['type'] === 'object' && !('additionalProperties' in copy);
  return isOpenObject ? { ...copy, unevaluatedProperties: false } : copy;
}
