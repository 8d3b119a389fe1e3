import {
  act,
  change,
  compared,
  create,
  evaluation,
  deleteLink,
  get,
  importedCall,
  link,
  MONITORING,
  openLink,
  page,
  read,
  readRun,
  recordingOf,
  remove,
  started,
} from './plans.js';
import type { Entry } from './ledger.js';
import type { Operation } from './virtual-client.js';

/** How to call every operation of openapi.json, by `operationId`. New operations are added here. */
export const OPERATIONS: Readonly<Record<string, Operation>> = {
  getHealth: { weight: 1, plan: () => get('/healthz') },
  getReadiness: { weight: 1, plan: () => get('/readyz') },
  listAgents: {
    weight: 4,
    plan: (client) => {
      const call = page(client, '/agents');
      return client.random.integer(2) ? call : { ...call, path: `${call.path}&search=${client.name}` };
    },
  },
  createAgent: {
    weight: 4,
    plan: create(
      'agents',
      () => '/agents',
      (_, name) => ({ name, provider: 'AGENT_PROVIDER_1', assistantId: 'booking', apiKey: 'none' }),
    ),
  },
  getAgent: { weight: 4, plan: read('agents', ({ id }) => `/agents/${id}`) },
  updateAgent: { weight: 4, plan: change('agents', 'name') },
  deleteAgent: { weight: 2, plan: remove('agents') },
  // It is never deleted.
  restoreAgent: {
    weight: 1,
    plan: ({ base }) => ({ method: 'POST', path: `/agents/${base.agentId}/restore`, expect: [409] }),
  },
  getConnection: { weight: 1, plan: (client) => get(`/agents/${client.base.agentId}/connection`) },
  putConnection: {
    weight: 1,
    plan: (client) => {
      const agent = client.own('agents');
      const body = { url: 'https://agent.example.com/', headers: { 'X-Token': client.marker() } };
      return agent && { method: 'PUT', path: `${client.path(agent)}/connection`, body, expect: [200] };
    },
  },
  deleteConnection: {
    weight: 1,
    plan: (client) => {
      const agent = client.own('agents');
      return agent && { method: 'DELETE', path: `${client.path(agent)}/connection`, expect: [200] };
    },
  },
  testConnection: {
    weight: 1,
    plan: (client) => ({
      method: 'POST',
      path: `/agents/${client.base.agentId}/connection/test`,
      // 429: six tests a minute.
      expect: [200, 429],
    }),
  },
  ...MONITORING,
  // The protocol of the provider has no such list.
  listAssistants: {
    weight: 1,
    plan: () => ({
      method: 'POST',
      path: '/providers/AGENT_PROVIDER_1/assistants',
      body: { apiKey: 'none' },
      expect: [409],
    }),
  },
  getAgentMetrics: { weight: 1, plan: (client) => get(`/agents/${client.base.agentId}/metrics`) },
  // 404: no run with the evaluation has ended.
  listCaseHistory: {
    weight: 1,
    plan: ({ base }) => ({
      ...get(`/agents/${base.agentId}/cases/${base.evaluationId}/history`),
      expect: [200, 404],
    }),
  },
  listAlarms: { weight: 1, plan: (client) => page(client, `/agents/${client.base.agentId}/alarms`) },
  // No schedule has enough runs for an alarm.
  acceptAlarm: {
    weight: 1,
    plan: ({ base }) => ({
      method: 'POST',
      path: `/agents/${base.agentId}/alarms/${base.evaluationId}/accept`,
      expect: [404],
    }),
  },
  muteAlarms: {
    weight: 1,
    plan: ({ base }) => ({
      method: 'POST',
      path: `/agents/${base.agentId}/alarms/mute`,
      body: { until: new Date(Date.now() + 60_000).toISOString(), reason: 'Chaos' },
      expect: [200],
    }),
  },
  listEvaluations: { weight: 3, plan: (client) => page(client, `/agents/${client.base.agentId}/evaluations`) },
  createEvaluation: {
    weight: 4,
    plan: create('evaluations', (client) => `/agents/${client.base.agentId}/evaluations`, evaluation),
  },
  importEvaluations: {
    weight: 1,
    plan: (client) => {
      const marker = client.marker();
      const items = [1, 2, 3].map((n) => ({ ...evaluation(client, `${marker} ${n}`), key: `${marker}-${n}` }));
      return {
        method: 'POST',
        path: `/agents/${client.base.agentId}/evaluations/import`,
        body: items,
        expect: [200],
        marker: `${marker} 1`,
        done: ({ data }) =>
          items.forEach(({ name }, n) => client.made({ kind: 'evaluations', id: data.items[n].id, marker: name })),
      };
    },
  },
  exportEvaluations: { weight: 1, plan: (client) => get(`/agents/${client.base.agentId}/evaluations/export`) },
  getEvaluation: { weight: 3, plan: read('evaluations', ({ id }) => `/evaluations/${id}`) },
  updateEvaluation: { weight: 3, plan: change('evaluations', 'name') },
  deleteEvaluation: { weight: 2, plan: remove('evaluations') },
  listPersonalities: { weight: 3, plan: (client) => page(client, '/personalities') },
  createPersonality: {
    weight: 4,
    plan: create(
      'personalities',
      () => '/personalities',
      (_, name) => ({ name }),
    ),
  },
  getPersonality: { weight: 3, plan: read('personalities', ({ id }) => `/personalities/${id}`) },
  updatePersonality: { weight: 3, plan: change('personalities', 'name') },
  deletePersonality: { weight: 2, plan: remove('personalities') },
  listRuns: { weight: 2, plan: (client) => page(client, `/agents/${client.base.agentId}/runs`) },
  startRun: {
    weight: 3,
    plan: (client) => {
      const path = `/agents/${client.base.agentId}/runs`;
      const call = create('runs', () => path, started)(client);
      if (client.random.integer(8) > 0) return call;
      return { method: 'POST', path, body: { ...(call.body as object), dryRun: true }, expect: [200] };
    },
  },
  getRun: { weight: 3, plan: (client) => readRun(client.random.integer(4) ? '' : '?wait=1')(client) },
  listCalls: {
    weight: 2,
    plan: (client) => {
      const run = client.own('runs');
      const done = ({ data }: any) => void client.calls.push(...data.map(({ id }: Entry) => ({ id, run: run! })));
      return run && { ...get(`/runs/${run.id}/calls`), done };
    },
  },
  getCall: {
    weight: 2,
    plan: (client) => {
      const call = client.random.pick(client.calls);
      return call && { ...get(`/calls/${call.id}`), expect: call.run.state === 'there' ? [200] : [200, 404] };
    },
  },
  getRecording: { weight: 1, plan: (client) => recordingOf(client, 'recording') },
  getWireLog: { weight: 1, plan: (client) => recordingOf(client, 'wire') },
  getRunMetrics: { weight: 2, plan: readRun('/metrics') },
  compareRuns: { weight: 1, plan: compared('/comparison') },
  compareSeveralRuns: { weight: 1, plan: compared('/matrix') },
  getJunit: { weight: 1, plan: readRun('/junit') },
  getReport: { weight: 1, plan: readRun('/report') },
  createReportLink: {
    weight: 1,
    plan: (client) => {
      const run = client.own('runs');
      // 409: the run has not ended, or has 20 links.
      return run && link(client.reportLinks, `/runs/${run.id}/report-links`);
    },
  },
  listReportLinks: { weight: 1, plan: readRun('/report-links') },
  deleteReportLink: { weight: 1, plan: deleteLink('reportLinks') },
  getSharedReport: { weight: 1, plan: openLink('reportLinks') },
  getAgentPage: { weight: 1, plan: ({ base }) => get(`/agents/${base.agentId}/page`) },
  // 409: the agent has 20 links.
  createPageLink: {
    weight: 1,
    plan: (client) => link(client.pageLinks, `/agents/${client.base.agentId}/page-links`),
  },
  listPageLinks: { weight: 1, plan: ({ base }) => get(`/agents/${base.agentId}/page-links`) },
  deletePageLink: { weight: 1, plan: deleteLink('pageLinks') },
  getSharedPage: { weight: 1, plan: openLink('pageLinks') },
  getSharedPageRun: {
    weight: 1,
    plan: (client) => {
      const [chosen, run] = [client.random.pick(client.pageLinks), client.any('runs')];
      // 404: also for a run that has not ended.
      return chosen && run && { ...get(`${chosen.shared}/runs/${run.id}`), expect: [200, 404] };
    },
  },
  getSharedRecording: {
    weight: 1,
    plan: (client) => {
      const [chosen, call] = [client.random.pick(client.pageLinks), client.random.pick(client.calls)];
      // 404: text calls, and links without recordings.
      return chosen && call && { ...get(`${chosen.shared}/calls/${call.id}/recording`), expect: [200, 404] };
    },
  },
  followRun: {
    weight: 1,
    plan: (client) => {
      const call = readRun('/events')(client);
      return call && { ...call, readForMs: client.random.between(50, 1_500) };
    },
  },
  cancelRun: {
    weight: 2,
    plan: (client) => {
      // The latest run is the most likely to be active.
      const run = client.latest('runs');
      if (run?.state !== 'there') return undefined;
      const done = () => void (run.cancelled = true);
      // 409: the run has already ended.
      return { method: 'POST', path: `/runs/${run.id}/cancel`, expect: [200, 409], done };
    },
  },
  rerunRun: {
    weight: 1,
    plan: (client) => {
      const run = client.own('runs');
      if (!run) return undefined;
      // A rerun has the name of the original run, so it is identified by its id.
      const done = ({ data }: any) =>
        void client.made({ kind: 'runs', id: data.id, marker: data.id, value: run.values[0] });
      return { method: 'POST', path: `/runs/${run.id}/rerun`, expect: [201], done };
    },
  },
  remeasureRun: {
    weight: 1,
    plan: (client) => {
      const run = client.own('runs');
      // The runs have text calls, of which there are no recordings.
      return run && { method: 'POST', path: `/runs/${run.id}/remeasure`, expect: [409] };
    },
  },
  // No agent of these tests is called over a connection with that option.
  reportToolCall: {
    weight: 1,
    plan: (client) => ({
      method: 'POST',
      path: '/tool-calls',
      body: { callId: client.base.agentId, name: client.marker() },
      expect: [404],
    }),
  },
  importCall: importedCall('POST', '/import', 415),
  deleteImportedCall: importedCall('DELETE', '?externalId=none', 404),
  // No call of the ledger has a check that was not met: promoted calls are tested apart.
  promoteCall: {
    weight: 1,
    plan: (client) => ({ method: 'POST', path: `/calls/${client.base.agentId}/evaluation`, expect: [404] }),
  },
  rejudgeRun: {
    weight: 1,
    plan: (client) => {
      const run = client.own('runs');
      // No language model is configured.
      return run && { method: 'POST', path: `/runs/${run.id}/rejudge`, expect: [409] };
    },
  },
  deleteRun: {
    weight: 1,
    plan: (client) => {
      const call = remove('runs')(client);
      // 409: the run has not ended.
      return call && { ...call, expect: [200, 409] };
    },
  },
  listAgentCalls: { weight: 1, plan: (client) => page(client, `/agents/${client.base.agentId}/calls`) },
  listSchedules: { weight: 1, plan: (client) => page(client, `/agents/${client.base.agentId}/schedules`) },
  createSchedule: {
    weight: 2,
    plan: (client) =>
      // The limit of a workspace is fifty.
      client.count('schedules') < 10
        ? create(
            'schedules',
            () => `/agents/${client.base.agentId}/schedules`,
            (_, name) => ({ name, cron: '*/5 * * * *', timeZone: 'Europe/Berlin', run: started(client, name) }),
          )(client)
        : undefined,
  },
  getSchedule: { weight: 1, plan: read('schedules', ({ id }) => `/schedules/${id}`) },
  updateSchedule: { weight: 1, plan: change('schedules', 'name') },
  deleteSchedule: { weight: 1, plan: remove('schedules') },
  runSchedule: {
    weight: 1,
    plan: (client) => {
      const schedule = client.own('schedules');
      if (!schedule) return undefined;
      // It has the name of the schedule's run, so it is identified by its id.
      const done = ({ data }: any) =>
        void client.made({ kind: 'runs', id: data.id, marker: data.id, value: data.name });
      // 409: a run of the schedule is in progress.
      return { method: 'POST', path: `/schedules/${schedule.id}/run`, expect: [201, 409], done };
    },
  },
  listScheduleSlots: {
    weight: 1,
    plan: (client) => {
      const schedule = client.own('schedules');
      return schedule && page(client, `/schedules/${schedule.id}/slots`);
    },
  },
  getWorkspace: { weight: 1, plan: () => get('/workspace') },
  updateWorkspace: { weight: 1, plan: change('workspace', 'name') },
  listApiKeys: { weight: 1, plan: (client) => page(client, '/workspace/api-keys') },
  createApiKey: {
    weight: 1,
    plan: create(
      'api-keys',
      () => '/workspace/api-keys',
      (_, name) => ({ name, role: 'VIEWER' }),
    ),
  },
  revokeApiKey: { weight: 1, plan: remove('api-keys') },
  listRecordingReadings: { weight: 1, plan: (client) => page(client, '/workspace/recording-readings') },
  listProviderKeys: { weight: 1, plan: (client) => page(client, '/workspace/provider-keys') },
  putProviderKey: {
    weight: 1,
    plan: (client) => {
      const entry = client.any('provider-keys');
      if (!entry || entry.state === 'unsure') return undefined;
      return {
        method: 'PUT',
        path: client.path(entry),
        body: { apiKey: client.marker() },
        expect: [200],
        done: () => void (entry.state = 'there'),
        unsure: () => void (entry.state = 'unsure'),
      };
    },
  },
  deleteProviderKey: { weight: 1, plan: remove('provider-keys') },
  listWebhooks: { weight: 1, plan: (client) => page(client, '/workspace/webhooks') },
  createWebhook: {
    weight: 2,
    plan: (client) =>
      // The limit of a workspace is fifty.
      client.count('webhooks') < 4
        ? create(
            'webhooks',
            () => '/workspace/webhooks',
            (_, marker) => ({
              url: `${client.url('webhooks')}${marker}`,
              events: ['run.completed', 'run.failed'],
              format: client.random.pick(['standard', 'slack']),
            }),
          )(client)
        : undefined,
  },
  getWebhook: { weight: 1, plan: read('webhooks', ({ id }) => `/workspace/webhooks/${id}`) },
  updateWebhook: { weight: 1, plan: change('webhooks', 'url') },
  deleteWebhook: { weight: 1, plan: remove('webhooks') },
  listWebhookDeliveries: {
    weight: 1,
    plan: (client) => page(client, `/workspace/webhooks/${client.base.webhookId}/deliveries`),
  },
  rotateWebhookSecret: { weight: 1, plan: act('webhooks', '/rotate-secret', 200) },
  testWebhook: {
    weight: 1,
    plan: (client) => ({
      method: 'POST',
      path: `/workspace/webhooks/${client.base.webhookId}/test`,
      expect: [201],
      done: ({ data }) => void client.deliveries.push(data.id),
    }),
  },
  redeliverWebhook: {
    weight: 1,
    plan: (client) => {
      const id = client.random.pick(client.deliveries);
      // 409: the delivery is still pending.
      return id === undefined
        ? undefined
        : { method: 'POST', path: `/workspace/webhook-deliveries/${id}/redeliver`, expect: [200, 409] };
    },
  },
};
