import type { Owner } from '../factories/rows.js';
import { HttpClient } from './http.js';
import { createTestApp, type TestApp, type TestAppOptions } from './test-app.js';

/** The service with a workspace that the tests of a file share. */
export interface WorkspaceApp extends TestApp {
  /** Sends requests with the ADMIN key of the workspace. */
  readonly client: HttpClient;
  readonly owner: Owner;
}

export async function createWorkspaceApp(options?: TestAppOptions): Promise<WorkspaceApp> {
  const app = await createTestApp(options);
  const { apiKey, ...owner } = await app.createWorkspace();
  return { ...app, client: new HttpClient(app.url, apiKey), owner };
}
