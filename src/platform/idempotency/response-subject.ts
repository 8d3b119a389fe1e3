import { isUuid } from '../database/ids.js';

/** What a stored response is about, by which it is found when an agent is erased. */
export type ResponseSubject =
  { readonly agentId: string } | { readonly runId: string } | { readonly deliveryId: string } | undefined;

/**
 * @param path of the request
 * @param body of the response
 * @returns the agent that the path or the response names, else the run or the webhook delivery that the path names
 */
export function subjectOf(path: string, body: unknown): ResponseSubject {
  const [, resource = '', id = '', deliveryId] = path.split('/');
  const data = fieldOf(body, 'data');
  const agentId = resource === 'agents' ? id || fieldOf(data, 'id') : fieldOf(data, 'agentId');
  if (isId(agentId)) return { agentId };
  if (resource === 'workspace' && id === 'webhook-deliveries') return isId(deliveryId) ? { deliveryId } : undefined;
  return resource === 'runs' && isId(id) ? { runId: id } : undefined;
}

const isId = (value: unknown): value is string => typeof value === 'string' && isUuid(value);

const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
