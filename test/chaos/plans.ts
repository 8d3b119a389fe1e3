import type { Entry, Kind } from './ledger.js';
import type { Call, Operation, SharedLink, VirtualClient } from './virtual-client.js';

export const get = (path: string): Call => ({ method: 'GET', path, expect: [200] });
export const page = (client: VirtualClient, path: string): Call =>
  get(`${path}?page=${1 + client.random.integer(3)}&limit=${1 + client.random.integer(50)}`);

const monitoring = (method: 'PUT' | 'POST', agentId: string): Call => ({
  ...{ method, path: `/agents/${agentId}/monitoring${method === 'POST' ? '/backfill' : ''}`, expect: [409] },
  body: method === 'POST' ? { from: new Date().toISOString() } : {},
});

/** Operations of an agent whose platform keeps no records. */
export const MONITORING: Readonly<Record<string, Operation>> = {
  getMonitoring: { weight: 1, plan: ({ base }) => get(`/agents/${base.agentId}/monitoring`) },
  putMonitoring: { weight: 1, plan: ({ base }) => monitoring('PUT', base.agentId) },
  backfillMonitoring: { weight: 1, plan: ({ base }) => monitoring('POST', base.agentId) },
};

/** A GET of a resource that the client may have deleted. */
export const read = (kind: Kind, path: (entry: Entry) => string) => (client: VirtualClient) => {
  const entry = client.any(kind);
  if (!entry) return undefined;
  const done = ({ data }: any) => client.compare(entry, data);
  return { ...get(path(entry)), expect: entry.state === 'there' ? [200] : [200, 404], done };
};

export const readRun = (suffix: string) => (client: VirtualClient) => {
  const run = client.any('runs');
  return run && { ...get(`/runs/${run.id}${suffix}`), expect: run.state === 'there' ? [200] : [200, 404] };
};

/** 404: there is no previous run; 409: the run has not ended. */
export const compared = (suffix: string) => (client: VirtualClient) => {
  const call = readRun(suffix)(client);
  return call && { ...call, expect: [200, 404, 409] };
};

/** 404: the calls of chaos tests are text calls. */
export const recordingOf = (client: VirtualClient, file: string): Call | undefined => {
  const call = client.random.pick(client.calls);
  return call && { ...get(`/calls/${call.id}/${file}`), expect: [404] };
};

/** Creates a resource with a unique marker. */
export const create =
  (kind: Kind, path: (client: VirtualClient) => string, body: (client: VirtualClient, marker: string) => object) =>
  (client: VirtualClient): Call => {
    const marker = client.marker();
    return {
      method: 'POST',
      path: path(client),
      body: body(client, marker),
      expect: [201],
      marker,
      done: ({ data }) => void client.made({ kind, id: data.id, marker, list: path(client) }),
    };
  };

/** Creates a link to a report or a page. */
export const link = (links: SharedLink[], path: string): Call => ({
  method: 'POST',
  path,
  body: { expiresInHours: 1 },
  expect: [201, 409],
  done: ({ data }) =>
    void links.push({ path: `${path}/${data.id}`, shared: new URL(data.url, 'http://local').pathname }),
});

/** 404: the link was deleted before, or with its run. */
export const deleteLink = (links: 'reportLinks' | 'pageLinks') => (client: VirtualClient) => {
  const chosen = client.random.pick(client[links]);
  return chosen && { method: 'DELETE', path: chosen.path, expect: [200, 404] };
};
export const openLink = (links: 'reportLinks' | 'pageLinks') => (client: VirtualClient) => {
  const chosen = client.random.pick(client[links]);
  return chosen && { ...get(chosen.shared), expect: [200, 404] };
};

/** Changes one field to a unique marker. */
export const change = (kind: Kind, field: string) => (client: VirtualClient) => {
  const entry = client.own(kind);
  if (!entry) return undefined;
  const value = `${client.url(kind)}${client.marker()}`;
  return {
    method: 'PATCH',
    path: client.path(entry),
    body: { [field]: value },
    expect: [200],
    done: () => void (entry.values = [value]),
    // Not changed again: this change may still be executing, and may be applied after a later one.
    unsure: () => void (entry.values = [...entry.values, value]),
  };
};

export const remove = (kind: Kind) => (client: VirtualClient) => {
  const entry = client.own(kind);
  if (!entry) return undefined;
  return {
    method: 'DELETE',
    path: client.path(entry),
    expect: [200],
    done: () => void (entry.state = 'gone'),
    unsure: () => void (entry.state = 'unsure'),
  };
};

export const act = (kind: Kind, suffix: string, status: number) => (client: VirtualClient) => {
  const entry = client.own(kind);
  return entry && { method: 'POST', path: `${client.path(entry)}${suffix}`, expect: [status] };
};

export const evaluation = (client: VirtualClient, name: string) => ({
  name,
  personalityId: client.base.personalityId,
  scenarioText: 'You call and want to be greeted.',
  script: [{ say: 'Hello' }, { end: 'Greeted' }],
  checks: [{ name: 'Greets', type: 'says', text: 'welcome' }],
});

export const started = (client: VirtualClient, marker: string) => {
  const isLong = client.random.integer(4) === 0;
  const size = isLong ? { repeat: 20, concurrency: 1 } : { repeat: 1 + client.random.integer(3), concurrency: 3 };
  return { name: marker, evaluationIds: [client.base.evaluationId], ...size };
};

/** A recording takes more time than the other requests together: imports are tested apart. */
export const importedCall = (method: 'POST' | 'DELETE', rest: string, status: number) => ({
  weight: 1,
  plan: (client: VirtualClient): Call => ({
    ...{ method, path: `/agents/${client.base.agentId}/calls${rest}`, expect: [status] },
    ...(method === 'POST' && { body: {} }),
  }),
});
