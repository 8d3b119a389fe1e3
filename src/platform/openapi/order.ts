/** Keys that come first, in this order; all others follow by name. */
const FIRST = ['openapi', 'info', 'servers', 'tags', 'paths', 'post', 'get', 'put', 'patch', 'delete', 'components'];

/** Paths in the order in which people use them; the page groups them by tag. */
export const PATHS = [
  '/agents',
  '/agents/{id}',
  '/agents/{id}/restore',
  '/agents/{id}/connection',
  '/agents/{id}/connection/test',
  '/agents/{id}/monitoring',
  '/agents/{id}/monitoring/backfill',
  '/personalities',
  '/personalities/{id}',
  '/agents/{agentId}/evaluations',
  '/evaluations/{id}',
  '/agents/{agentId}/evaluations/import',
  '/agents/{agentId}/evaluations/export',
  '/agents/{agentId}/runs',
  '/runs/{id}',
  '/runs/{id}/events',
  '/runs/{id}/calls',
  '/calls/{id}',
  '/calls/{id}/evaluation',
  '/calls/{id}/recording',
  '/calls/{id}/wire',
  '/tool-calls',
  '/runs/{id}/report',
  '/runs/{id}/junit',
  '/runs/{id}/comparison',
  '/runs/{id}/matrix',
  '/runs/{runId}/metrics',
  '/runs/{id}/cancel',
  '/runs/{id}/rerun',
  '/runs/{id}/remeasure',
  '/runs/{id}/rejudge',
  '/agents/{id}/calls',
  '/agents/{id}/calls/import',
  '/runs/{id}/report-links',
  '/runs/{id}/report-links/{linkId}',
  '/reports/{token}',
  '/agents/{agentId}/schedules',
  '/schedules/{id}',
  '/schedules/{id}/run',
  '/schedules/{id}/slots',
  '/agents/{agentId}/metrics',
  '/agents/{id}/cases/{key}/history',
  '/agents/{id}/alarms',
  '/agents/{id}/alarms/{alarmId}/accept',
  '/agents/{id}/alarms/mute',
  '/agents/{id}/page',
  '/agents/{id}/page-links',
  '/agents/{id}/page-links/{linkId}',
  '/pages/{token}',
  '/pages/{token}/runs/{runId}',
  '/pages/{token}/calls/{callId}/recording',
  '/workspace',
  '/workspace/api-keys',
  '/workspace/api-keys/{id}',
  '/workspace/recording-readings',
  '/workspace/provider-keys',
  '/workspace/provider-keys/{provider}',
  '/providers/{provider}/assistants',
  '/workspace/webhooks',
  '/workspace/webhooks/{id}',
  '/workspace/webhooks/{id}/test',
  '/workspace/webhooks/{id}/deliveries',
  '/workspace/webhook-deliveries/{id}/redeliver',
  '/workspace/webhooks/{id}/rotate-secret',
  '/healthz',
  '/readyz',
];

const rank = (key: string): number => (FIRST.includes(key) ? FIRST.indexOf(key) : FIRST.length);
const byRankAndName = ([a]: [string, unknown], [b]: [string, unknown]): number => rank(a) - rank(b) || (a < b ? -1 : 1);

/**
 * The document with its keys in a fixed order, so that moving code does not change the committed file and an API change
 * shows in review.
 */
export function ordered<T>(node: T): T {
  if (Array.isArray(node)) return node.map(ordered) as T;
  if (typeof node !== 'object' || node === null) return node;
  const entries = (Object.entries(node) as [string, unknown][]).sort(byRankAndName);
  return Object.fromEntries(entries.map(([key, value]) => [key, orderedBelow(key, value)])) as T;
}

function orderedBelow(key: string, value: unknown): unknown {
  switch (key) {
    case 'paths':
      return Object.fromEntries(
        Object.entries(value as object)
          .sort(([a], [b]) => PATHS.indexOf(a) - PATHS.indexOf(b))
          .map(([path, item]) => [path, ordered(item)]),
      );
    // Values, whose order of keys is the author's.
    case 'default':
    case 'example':
    case 'value':
      return value;
    // Fields stay in the order of the response; the schema of each is ordered.
    case 'properties':
      return Object.fromEntries(Object.entries(value as object).map(([name, schema]) => [name, ordered(schema)]));
    default:
      return ordered(value);
  }
}
