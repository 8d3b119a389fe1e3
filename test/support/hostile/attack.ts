import { parse as parseQuery } from 'node:querystring';
import type { OpenApiDocument, OpenApiValidator } from '../openapi-validator.js';
import { violationsOf, issuesWithoutField } from './response-checks.js';
import type { HostileRequest } from './requests.js';
import type { WireResponse, WireClient } from './wire.js';
import type { Fixtures } from './fixtures.js';

/** The parser's limit for request headers, and the tolerance of the size estimate below. */
const HEAD_LIMIT = 16 * 1024;
const HEAD_TOLERANCE = 512;

/** Fields of a create body that the server overrides. */
const SERVER_OWNED = new Set(['created_at', 'updated_at', 'createdByUserId', 'deletedAt', 'workspaceId']);

/** Body fields that only control the request and are not stored, by operation. */
const INSTRUCTIONS: Readonly<Record<string, readonly string[]>> = {
  'POST /providers/{provider}/assistants': ['apiKey'],
  'POST /runs/{id}/report-links': ['expiresInHours'],
  'POST /agents/{id}/page-links': ['expiresInHours'],
  'POST /agents/{agentId}/runs': ['evaluationIds', 'evaluationKeys', 'tags', 'dryRun'],
};

/** Fields that are returned only on creation. */
const RETURNED_ONCE = new Set(['key', 'secret']);

type Json = Record<string, unknown>;

/** Operations whose responses are written while the results of a run are read. */
const STREAMED: ReadonlySet<string> = new Set(['GET /runs/{id}/report', 'GET /runs/{id}/junit']);

/** Sends hostile requests and checks the responses. */
export class Attack {
  /** Number of responses by status. */
  readonly statuses = new Map<number, number>();
  readonly operations = new Set<string>();
  /** Number of accepted writes that were compared with what had been sent. */
  readBack = 0;

  private readonly routes: readonly { readonly operation: string; readonly method: string; readonly path: RegExp }[];
  private readonly fieldNames: readonly string[];

  constructor(
    private readonly fixtures: Fixtures,
    private readonly client: WireClient,
    private readonly validator: OpenApiValidator,
    document: OpenApiDocument,
  ) {
    this.routes = [...validator.operations.keys()].map((operation) => {
      const [method = '', template = ''] = operation.split(' ');
      return { operation, method, path: new RegExp(`^${template.replaceAll(/\{\w+\}/g, '[^/]+')}$`) };
    });
    const schemas = Object.values(document.components.schemas) as { properties?: object }[];
    const parameters = [...validator.operations.values()].flatMap((operation) => operation.parameters ?? []);
    this.fieldNames = [
      ...schemas.flatMap(({ properties = {} }) => Object.keys(properties)),
      ...parameters.map(({ name }) => name),
    ];
  }

  /** Whether the run was deleted while its results were read: the file is then cut off, so that it does not look complete. */
  private async isGone(target: string, headers: HostileRequest['headers']): Promise<boolean> {
    const run = target.replace(/\/[^/]*$/, '');
    return (await this.client.send({ method: 'GET', target: run, headers })).status === 404;
  }

  /** @returns one sentence per violation */
  async send(request: HostileRequest): Promise<string[]> {
    const target = this.targetOf(request);
    const headers = this.headersOf(request);
    let response: WireResponse;
    try {
      response = await this.client.send({ method: request.method, target, headers, body: request.body?.bytes });
    } catch (error) {
      const isCutOff = STREAMED.has(request.operation) && (await this.isGone(target, headers));
      return isCutOff ? [] : [`no response: ${String(error)}`];
    }
    this.statuses.set(response.status, (this.statuses.get(response.status) ?? 0) + 1);
    this.operations.add(request.operation);
    const violations = [
      ...violationsOf(response, request.method === 'HEAD'),
      ...this.documentViolations(request, target, headers, response),
      ...this.issueViolations(request, target, response),
      ...(await this.storageViolations(request, response)),
    ];
    if (response.status === 200 && consumesResource(request)) await this.fixtures.replace(request.template);
    return violations.map(
      (violation) => `${request.method} ${target.slice(0, 200)}: ${violation}; response ${response.text.slice(0, 500)}`,
    );
  }

  private targetOf({ template, segments, query }: HostileRequest): string {
    let next = 0;
    const path = template.replaceAll(/\{\w+\}/g, () => {
      const segment = segments[next++];
      if (!segment) return '';
      return 'raw' in segment ? segment.raw : this.fixtures.id(segment.id, template);
    });
    return query === undefined ? path : `${path}?${query}`;
  }

  private headersOf({ caller, headers, body }: HostileRequest): [string, string][] {
    const key = this.fixtures.key(caller);
    return [
      ...headers.map(([name, value]): [string, string] => [name, value]),
      ...(key === undefined ? [] : [['Authorization', `Bearer ${key}`] as [string, string]]),
      ...(body?.encoding === undefined ? [] : [['Content-Encoding', body.encoding] as [string, string]]),
    ];
  }

  private documentViolations(
    request: HostileRequest,
    target: string,
    headers: [string, string][],
    response: WireResponse,
  ): string[] {
    const { method } = request;
    if (isProtocolError(response)) {
      return isUnparsable(method, target, headers) ? [] : ['a valid request was rejected as malformed'];
    }
    const [path = ''] = target.split('?', 1);
    const isHead = method === 'HEAD';
    // Its answer has no text that says so.
    if (isHead && response.status === 400 && isUnparsable(method, target, headers)) return [];
    const route = this.routes.find((each) => each.method === (isHead ? 'GET' : method) && each.path.test(path));
    const body = isHead || response.text === '' ? undefined : bodyOf(response);
    if (isHead) {
      const documented = route ? Object.keys(this.validator.operations.get(route.operation)?.responses ?? {}) : ['404'];
      return documented.includes(String(response.status)) ? [] : [`status ${response.status} is not documented`];
    }
    if (!route) return this.validator.checkUnrouted(response.status, response.headers, body);
    return this.validator.check(route.operation, response.status, response.headers, body);
  }

  private issueViolations(
    { body, query = '', method }: HostileRequest,
    _target: string,
    { status, text }: WireResponse,
  ): string[] {
    if (status !== 400 || method === 'HEAD') return [];
    const sent = parseJson(body?.json ?? body?.bytes.toString() ?? '');
    return issuesWithoutField(text, [...this.fieldNames, ...namesIn(sent), ...Object.keys(parseQuery(query))]);
  }

  /** Accepted values must be returned, and read back, as they were sent. */
  private async storageViolations(
    { method, template, caller, body }: HostileRequest,
    response: WireResponse,
  ): Promise<string[]> {
    if (!['POST', 'PATCH'].includes(method) || response.status >= 300 || body?.json === undefined) return [];
    // A body is not read if none is documented.
    if (!this.validator.operations.get(`${method} ${template}`)?.requestBody) return [];
    const { data } = parseJson(response.text) as { data: Json };
    const instructions = INSTRUCTIONS[`${method} ${template}`] ?? [];
    const violations = Object.entries(parseJson(body.json) as Json)
      .filter(([name]) => !SERVER_OWNED.has(name) && !instructions.includes(name))
      .filter(([name, value]) => JSON.stringify(data[name]) !== JSON.stringify(value))
      .map(([name, value]) => `${name} was sent as ${shorten(value)} but returned as ${shorten(data[name])}`);
    this.readBack++;
    // Links are only in the list of their run or agent; `report-links.test.ts` and `agent-pages.test.ts` read them back.
    if (/\/(report|page)-links$/.test(template)) return violations;
    // A dry run creates nothing that could be read.
    if (method !== 'POST' || data['id'] === undefined) return violations;
    const stored = await this.read(template, data['id'] as string, caller);
    const persistent = Object.fromEntries(Object.entries(data).filter(([name]) => !RETURNED_ONCE.has(name)));
    return JSON.stringify(stored) === JSON.stringify(persistent)
      ? violations
      : [...violations, `read back as ${shorten(stored)}`];
  }

  /** Reads a resource by its id, or from its list if it has no route of its own. */
  private async read(template: string, id: string, caller: HostileRequest['caller']): Promise<unknown> {
    // A resource created below another one is read by its own path.
    const collection = template.replace(/^.*\{\w+\}/, '');
    const hasOwnRoute = this.validator.operations.has(`GET ${collection}/{id}`);
    const response = await this.client.send({
      method: 'GET',
      target: hasOwnRoute ? `${collection}/${id}` : `${collection}?limit=100`,
      headers: [['Authorization', `Bearer ${this.fixtures.key(caller) ?? ''}`]],
    });
    const { data } = parseJson(response.text) as { data?: unknown };
    return hasOwnRoute ? data : (data as { id: string }[]).find((each) => each.id === id);
  }
}

/** Whether a successful request cannot be repeated on the same resource. */
const consumesResource = ({ method, template }: HostileRequest): boolean =>
  method === 'DELETE' || (method === 'POST' && template.endsWith('/redeliver'));

/** Whether Node's parser may reject the request: headers too large, unknown method, or a target with non-ASCII bytes. */
function isUnparsable(method: string, target: string, headers: readonly [string, string][]): boolean {
  // Each header is sent as `name: value\r\n`.
  const size = target.length + headers.reduce((sum, [name, value]) => sum + name.length + value.length + 4, 0);
  return size > HEAD_LIMIT - HEAD_TOLERANCE || method === 'BREW' || /[^\u0021-\u007e]/.test(target);
}

const isProtocolError = ({ status, text }: WireResponse): boolean =>
  status === 400 && /"message":"request (?:headers must be at most|must be valid HTTP)/.test(text);

const shorten = (value: unknown): string => (JSON.stringify(value) ?? 'nothing').slice(0, 300);

/** The parsed JSON, or the text of another media type. */
const bodyOf = ({ headers, text }: WireResponse): unknown =>
  /[/+]json\b/.test(headers.get('content-type') ?? '') ? parseJson(text) : text;

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** The top-level member names of an object, or the indexes of a list as issues name them: `[0]`. */
function namesIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.map((_, index) => `[${index}]`);
  return typeof value === 'object' && value !== null ? Object.keys(value) : [];
}
