import type { Client } from 'pg';
import { send } from './caller.js';
import { documentedLists, expectSameEntries } from './document.js';
import type { Workspace } from './installation.js';
import type { Random } from './random.js';

interface ListKind {
  /** `{id}` is replaced by an id of `parents`. */
  readonly path: string;
  /** Query for the parent ids; $1 is the workspace. */
  readonly parents: string;
  /** Query for the expected items; $1 is the parent. */
  readonly rows: string;
}

const workspace = 'SELECT $1::uuid AS id';
const agents = 'SELECT id FROM agents WHERE workspace_id = $1 AND deleted_at IS NULL';

/** Every list of openapi.json, by `operationId`. New lists are added here. */
const LISTS: Readonly<Record<string, ListKind>> = {
  listAgents: { path: '/agents', parents: workspace, rows: agents },
  listPersonalities: {
    path: '/personalities',
    parents: workspace,
    rows: 'SELECT id FROM personalities WHERE workspace_id = $1 AND deleted_at IS NULL',
  },
  listEvaluations: {
    path: '/agents/{id}/evaluations',
    parents: agents,
    rows: 'SELECT id FROM evaluations WHERE agent_id = $1 AND deleted_at IS NULL',
  },
  listRuns: { path: '/agents/{id}/runs', parents: agents, rows: 'SELECT id FROM runs WHERE agent_id = $1' },
  listAgentCalls: {
    path: '/agents/{id}/calls',
    parents: agents,
    rows: 'SELECT c.id FROM calls c JOIN runs r ON r.id = c.run_id WHERE c.agent_id = $1 AND c.recorded_call_id IS NULL',
  },
  listCalls: {
    path: '/runs/{id}/calls',
    parents: 'SELECT id FROM runs WHERE workspace_id = $1',
    rows: 'SELECT id FROM calls WHERE run_id = $1',
  },
  listCaseHistory: {
    path: '/agents/{id}/history',
    parents: `SELECT DISTINCT h.agent_id || '/cases/' || replace(h.case_key, '#', '%23') AS id
                FROM case_results h JOIN agents a ON a.id = h.agent_id AND a.deleted_at IS NULL WHERE h.workspace_id = $1`,
    rows: `SELECT run_id AS id FROM case_results WHERE agent_id || '/cases/' || replace(case_key, '#', '%23') = $1`,
  },
  listAlarms: { path: '/agents/{id}/alarms', parents: agents, rows: 'SELECT id FROM alarms WHERE agent_id = $1' },
  listReportLinks: {
    path: '/runs/{id}/report-links',
    parents: 'SELECT id FROM runs WHERE workspace_id = $1',
    rows: 'SELECT id FROM report_links WHERE run_id = $1 AND expires_at > now()',
  },
  listSchedules: {
    path: '/agents/{id}/schedules',
    parents: agents,
    rows: 'SELECT id FROM schedules WHERE agent_id = $1',
  },
  listScheduleSlots: {
    path: '/schedules/{id}/slots',
    parents: 'SELECT id FROM schedules WHERE workspace_id = $1',
    rows: 'SELECT id FROM schedule_slots WHERE schedule_id = $1',
  },
  listPageLinks: {
    path: '/agents/{id}/page-links',
    parents: agents,
    rows: 'SELECT id FROM report_links WHERE agent_id = $1 AND expires_at > now()',
  },
  listApiKeys: {
    path: '/workspace/api-keys',
    parents: workspace,
    rows: 'SELECT id FROM api_keys WHERE workspace_id = $1 AND revoked_at IS NULL',
  },
  listRecordingReadings: {
    path: '/workspace/recording-readings',
    parents: workspace,
    rows: 'SELECT id FROM recording_readings WHERE workspace_id = $1',
  },
  listProviderKeys: {
    path: '/workspace/provider-keys',
    parents: workspace,
    rows: 'SELECT provider AS id FROM provider_keys WHERE workspace_id = $1',
  },
  listWebhooks: {
    path: '/workspace/webhooks',
    parents: workspace,
    rows: 'SELECT id FROM webhook_endpoints WHERE workspace_id = $1',
  },
  listWebhookDeliveries: {
    path: '/workspace/webhooks/{id}/deliveries',
    parents: 'SELECT id FROM webhook_endpoints WHERE workspace_id = $1',
    rows: 'SELECT id FROM webhook_deliveries WHERE endpoint_id = $1',
  },
};
expectSameEntries('LISTS in test/chaos/lists.ts', Object.keys(LISTS), documentedLists);

const PAGE = 100;
/** Number of lists of one kind and workspace that are checked, longest first. */
const MAX_PARENTS = 40;

export interface ListFigures {
  readonly lists: number;
  readonly items: number;
  /** Number of items in the longest list. */
  readonly longest: number;
  readonly problems: readonly string[];
}

/** Pages through lists and compares totals, returned items and the database. */
export async function checkLists(
  url: string,
  workspaces: readonly Workspace[],
  database: Client,
  random: Random,
): Promise<ListFigures> {
  const problems: string[] = [];
  let [lists, items, longest] = [0, 0, 0];
  for (const { id: workspaceId, key } of workspaces) {
    for (const { path, parents, rows } of Object.values(LISTS)) {
      const { rows: found } = await database.query<{ id: string }>(parents, [workspaceId]);
      for (const { id } of random.shuffled(found).slice(0, MAX_PARENTS)) {
        const list = path.replace('{id}', id);
        const expected = (await database.query<{ id: string }>(rows, [id])).rows.map((row) => row.id);
        const { total, shown } = await pageThrough(url, key, list);
        lists++;
        items += expected.length;
        longest = Math.max(longest, expected.length);
        if (total !== expected.length || [...shown].sort().join() !== expected.sort().join()) {
          problems.push(`${list}: total ${total}, paged ${shown.length}, counted ${expected.length}`);
        }
      }
    }
  }
  return { lists, items, longest, problems };
}

async function pageThrough(url: string, key: string, path: string): Promise<{ total: number; shown: string[] }> {
  const shown: string[] = [];
  for (let page = 1; ; page++) {
    const outcome = await send(url, key, { method: 'GET', path: `${path}?page=${page}&limit=${PAGE}` });
    if (outcome.kind !== 'response' || outcome.status !== 200) return { total: NaN, shown };
    const { data, meta } = outcome.body;
    shown.push(
      ...data.map((item: { id?: string; provider?: string; runId?: string }) => item.id ?? item.provider ?? item.runId),
    );
    if (page >= meta.pageCount) return { total: meta.total, shown };
  }
}
