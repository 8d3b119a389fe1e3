import { DataSource } from 'typeorm';
import { insertPersonality, type Owner } from '../factories/rows.js';
import { type ApiResponse, HttpClient } from './http.js';
import { createTestApp, type TestApp } from './test-app.js';

export const MEDIA_TYPES = { json: 'application/json', yaml: 'application/yaml', csv: 'text/csv' } as const;
export type Format = keyof typeof MEDIA_TYPES;
export const FORMATS = Object.keys(MEDIA_TYPES) as Format[];

/** The messages of the issues of an error body. */
export const messages = (body: { issues?: { message: string }[] }): string[] =>
  (body.issues ?? []).map(({ message }) => message);

/** A service with one workspace and personality, and helpers to import and export evaluations. */
export class EvaluationFiles {
  private constructor(
    readonly app: TestApp,
    readonly owner: Owner,
    readonly key: string,
    readonly client: HttpClient,
    readonly personalityId: string,
  ) {}

  /** @param env environment variables of the service */
  static async open(env: NodeJS.ProcessEnv = {}): Promise<EvaluationFiles> {
    return EvaluationFiles.with(await createTestApp({ env }));
  }

  /** The same service with another workspace and personality. */
  inNewWorkspace(): Promise<EvaluationFiles> {
    return EvaluationFiles.with(this.app);
  }

  private static async with(app: TestApp): Promise<EvaluationFiles> {
    const workspace = await app.createWorkspace();
    const client = new HttpClient(app.url, workspace.apiKey);
    const { id } = await insertPersonality(app.nest.get(DataSource).manager, workspace);
    return new EvaluationFiles(app, workspace, workspace.apiKey, client, id);
  }

  get manager() {
    return this.app.nest.get(DataSource).manager;
  }

  async createAgent(fields: object = {}): Promise<string> {
    const agent = { provider: 'AGENT_PROVIDER_1', assistantId: 'a', apiKey: 'k', phoneNumber: '+15550100', ...fields };
    return (await this.client.post('/agents', agent)).body.data.id as string;
  }

  /** A file item with the required fields, and those given. */
  item(key: string, fields: object = {}) {
    return {
      key,
      name: `Name of ${key}`,
      scenarioText: 'You want a table.',
      personalityId: this.personalityId,
      ...fields,
    };
  }

  send(agentId: string, body: unknown, type: string = MEDIA_TYPES.json, query = ''): Promise<ApiResponse<any>> {
    const headers = { 'Content-Type': type };
    return this.client.send('POST', `/agents/${agentId}/evaluations/import${query}`, body, headers);
  }

  async export(agentId: string, format: Format, init: RequestInit = {}): Promise<Response> {
    const response = await fetch(`${this.app.url}/agents/${agentId}/evaluations/export?format=${format}`, {
      headers: { Authorization: `Bearer ${this.key}` },
      ...init,
    });
    expect(response.status).toBe(200);
    return response;
  }

  async exported(agentId: string, format: Format): Promise<string> {
    return (await this.export(agentId, format)).text();
  }

  async stored(agentId: string): Promise<Record<string, unknown>[]> {
    return (await this.client.get(`/agents/${agentId}/evaluations?limit=100`)).body.data;
  }
}
