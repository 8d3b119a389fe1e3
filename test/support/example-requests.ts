import { randomUUID } from 'node:crypto';
import { type DocumentedOperation, mediaTypeOf } from './conformance.js';
import { requestPath, type WorkspaceWithKey, withExistingPersonality } from './resources.js';
import type { TestApp } from './test-app.js';

export interface ExampleRequest {
  readonly path: string;
  readonly body: unknown;
  readonly key: string;
  readonly headers: Record<string, string>;
}

/** Requests with the example bodies of the document. @param context the service and the workspace that sends by default */
export function exampleRequests(context: () => { readonly app: TestApp; readonly owner: WorkspaceWithKey }) {
  const rejected = new Map<string, Promise<ExampleRequest>>();

  /** Creates resources and returns a request on them that succeeds. */
  const request = async (
    operation: DocumentedOperation,
    subject = context().owner,
    example = operation.bodies[0],
  ): Promise<ExampleRequest> => {
    const { app } = context();
    const path = await requestPath(app, subject, operation);
    return {
      path,
      body: await withExistingPersonality(app, subject, example?.value, path),
      key: subject.apiKey,
      headers: mediaTypeOf(example),
    };
  };

  /** The same request for all tests of an operation that the service rejects, and that hence leave its resources as they are. */
  const rejectedRequest = (operation: DocumentedOperation, subject = context().owner): Promise<ExampleRequest> => {
    const name = `${operation.name} of ${subject.workspaceId}`;
    if (!rejected.has(name)) rejected.set(name, request(operation, subject));
    return rejected.get(name)!;
  };

  const retryableRequest = async (operation: DocumentedOperation, idempotencyKey: string = randomUUID()) => {
    const { headers, ...rest } = await request(operation);
    return { ...rest, headers: { ...headers, 'Idempotency-Key': idempotencyKey } };
  };

  return { request, rejectedRequest, retryableRequest };
}
