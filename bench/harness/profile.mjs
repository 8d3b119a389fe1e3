// Where the service's time goes: V8's own profile, its self times grouped by our layers.
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { SUBJECTS } from './subjects.mjs';
import { start, stop } from './processes.mjs';

const WARM_MS = 4_000;
const PROFILED_MS = 8_000;
const CONNECTIONS = 32;
const INTERVAL_US = '250';
const SHOWN = 40;

/** The layers by where their code lies; the first that fits counts. */
const LAYERS = [
  ['auth', /src\/modules\/api-keys\/|src\/platform\/access\/|baselines\/callers/],
  ['limit', /src\/platform\/throttling\/|@nestjs\/throttler/],
  ['parse', /http\/(read-body|text-body|json-fault|json-body|request-line)|node:querystring|parseurl|\/qs\//],
  [
    'validate',
    /baselines\/input|validation\.pipe|http\/fields|pagination|class-validator|class-transformer|@nestjs\/common\/pipes/,
  ],
  ['encryption', /baselines\/sealing|src\/platform\/encryption\/|node:internal\/crypto/],
  ['query', /node_modules\/(pg|pg-[^/]+|postgres-[^/]+|typeorm)\/|src\/platform\/database\/|\.repository\.js/],
  [
    'serialise',
    /baselines\/agents|agents\.service|fast-json-stringify|envelope|json-adapter|express\/lib\/(response|utils)|content-type|\/etag|mime/,
  ],
  ['log', /pino|sonic-boom|thread-stream|observability\/(logger|request-log)|on-exit-leak|quick-format|safe-stable/],
  ['metrics', /prom-client|observability\/metrics/],
  ['idempotency', /src\/platform\/idempotency\//],
  ['headers', /helmet|common-headers|entrance/],
  [
    'framework',
    /exchange\.interceptor|node_modules\/(@nestjs|express|body-parser|fastify|find-my-way|avvio|light-my-request|router|rxjs|path-to-regexp|reflect-metadata|on-finished|depd)/,
  ],
  ['our own rest', /(dist\/(src|libs)|bench\/baselines)\//],
  ['node: http', /node:_http|node:internal\/http|node:http|node:url|node:internal\/url/],
  ['node: streams, sockets', /node:(internal\/)?(streams?|net|events|dgram|stream_base|webstreams)|node:events/],
  ['node: rest', /^node:/],
];

/** As it was compiled: in the bundle nobody sees which file a function comes from. */
const profiledScript = ({ script }) => script.replace('dist/bundle/', 'dist/src/');

/**
 * @param work one of `works`
 * @param name of the subject
 * @returns a text with tables, for people
 */
export async function profile(load, { id, requests }, name, env, directory) {
  const subjectMeant = SUBJECTS.find((one) => one.name === name);
  if (!subjectMeant) throw new Error(`--subject takes one of ${SUBJECTS.map((one) => one.name).join(', ')}`);
  const profiles = path.join(directory, 'profiles');
  const nodeArgs = [
    ...(subjectMeant.nodeArgs ?? []),
    '--cpu-prof',
    `--cpu-prof-dir=${profiles}`,
    `--cpu-prof-interval=${INTERVAL_US}`,
  ];
  const subject = await start({ ...subjectMeant, script: profiledScript(subjectMeant), env, nodeArgs });
  const job = { ports: [subject.port], requests, connections: CONNECTIONS };
  await load.measure({ ...job, ms: WARM_MS });
  const from = performance.now();
  const { rate } = await load.measure({ ...job, ms: PROFILED_MS });
  const lastMs = performance.now() - from;
  const stopping = performance.now();
  await stop(subject);
  const [file] = await readdir(profiles);
  const recorded = JSON.parse(await readFile(path.join(profiles, file), 'utf8'));
  // Only the measured time: before it the service started and warmed up, after it it ended.
  const endsUs = recorded.endTime - (performance.now() - stopping) * 1000;
  const functions = selfTimes(recorded, endsUs - lastMs * 1000, endsUs);
  return tables(functions, `${subjectMeant.title}, ${id}, ${Math.round(rate)} requests/s`, (rate * lastMs) / 1000);
}

/** Self times in microseconds of every function between two moments of the profile's clock. */
function selfTimes({ nodes, samples, timeDeltas, startTime }, fromUs, toUs) {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id])));
  const functions = new Map();
  let now = startTime;
  samples.forEach((id, i) => {
    now += timeDeltas[i];
    if (now < fromUs || now > toUs) return;
    const { functionName, url, lineNumber } = byId.get(id).callFrame;
    const layer = layerOf(id, byId, parents);
    const place = url === '' ? '' : `${shortPath(url)}:${lineNumber + 1}`;
    const key = `${layer} ${functionName} ${place}`;
    const entry = functions.get(key) ?? { layer, name: functionName || '(anonymous)', place, us: 0 };
    entry.us += timeDeltas[i];
    functions.set(key, entry);
  });
  return [...functions.values()].sort((a, b) => b.us - a.us);
}

/** What V8 has built in (JSON, maps, regular expressions) counts for whoever called it. */
function layerOf(id, byId, parents) {
  for (let at = id; at !== undefined; at = parents.get(at)) {
    const { functionName, url } = byId.get(at).callFrame;
    if (url === '' && /^\((idle|program|garbage collector)\)$/.test(functionName)) return functionName;
    const layer = url === '' ? undefined : LAYERS.find(([, pattern]) => pattern.test(url))?.[0];
    if (layer !== undefined) return layer;
  }
  return 'other';
}

const shortPath = (url) =>
  url.includes('node_modules/') ? url.replace(/^.*node_modules\//, '') : url.replace(/^.*\/(dist|bench)\//, '$1/');

/** @param count requests in the time that the functions took */
function tables(functions, title, count) {
  const busy = functions.filter(({ layer }) => layer !== '(idle)');
  const total = busy.reduce((sum, { us }) => sum + us, 0);
  const layers = new Map();
  for (const { layer, us } of busy) layers.set(layer, (layers.get(layer) ?? 0) + us);
  const share = (us) => `${((100 * us) / total).toFixed(1).padStart(5)} %  ${(us / count).toFixed(1).padStart(7)} µs`;
  const lines = [
    `\n${title}: self time by layer, share and microseconds per request\n`,
    `${share(total)}  all`,
    ...[...layers].sort((a, b) => b[1] - a[1]).map(([layer, us]) => `${share(us)}  ${layer}`),
    `\nThe ${SHOWN} functions with the most of it\n`,
    ...busy.slice(0, SHOWN).map(({ layer, name, place, us }) => `${share(us)}  ${layer.padEnd(24)}${name}  ${place}`),
  ];
  return `${lines.join('\n')}\n`;
}
