import {
  type CallResult,
  failure,
  mediaThreads,
  type ProtocolName,
  PROTOCOLS,
  type Reliability,
  unstartedCall,
} from '../../../libs/simulation/index.js';
import { readSettings } from '../../platform/config/settings.js';
import type { Database } from '../../platform/database/database.js';
import { Metrics } from '../../platform/observability/metrics.js';
import { CallMetrics } from './call-metrics.js';

const VOICE = 'twilio-media-streams';
const IDLE = Object.fromEntries(PROTOCOLS.names.map((name) => [`{protocol="${name}"}`, 0]));
/** Imported calls wait for a slot, too. */
const NONE_WAITING = { ...IDLE, '{protocol="recording"}': 0 };
const UNSTARTED = unstartedCall('none', failure('internal'));

describe('metrics of calls', () => {
  let metrics: Metrics;
  let calls: CallMetrics;

  const create = (env: NodeJS.ProcessEnv = {}) => {
    const settings = readSettings(env);
    metrics = new Metrics({ poolState: { total: 0, idle: 0, waiting: 0 } } as Database, settings);
    calls = new CallMetrics(metrics, settings);
  };
  beforeEach(() => create());
  afterEach(() => jest.restoreAllMocks());

  /** The samples of a metric, by what follows its name. */
  const samples = async (name: string): Promise<Record<string, number>> => {
    const lines = (await metrics.registry.metrics()).split('\n').filter((line) => line.startsWith(name));
    const pairs = lines.map((line) => /^(.*) (\S+)$/.exec(line.slice(name.length))!.slice(1) as [string, string]);
    return Object.fromEntries(pairs.map(([labels, value]) => [labels, Number(value)]));
  };
  const observe = (
    outcome: CallResult['outcome'],
    reliability: Partial<Reliability> = {},
    protocol: ProtocolName = VOICE,
  ) => {
    const result = { ...UNSTARTED, outcome, reliability: { ...UNSTARTED.reliability, ...reliability } };
    return calls.observe(protocol, new AbortController().signal, () => Promise.resolve(result));
  };

  it('count a call as in progress until it ends', async () => {
    let end = (): void => undefined;
    const ended = calls.observe(VOICE, new AbortController().signal, async () => {
      await new Promise<void>((resolve) => (end = resolve));
      return { ...UNSTARTED, outcome: 'passed' };
    });
    const started = { ...IDLE, [`{protocol="${VOICE}"}`]: 1 };
    expect(await samples('calls_in_progress')).toEqual(started);
    end();
    expect(await ended).toMatchObject({ outcome: 'passed' });
    expect(await samples('calls_in_progress')).toEqual({ ...started, [`{protocol="${VOICE}"}`]: 0 });
  });

  it('count ended attempts by protocol and outcome, all of which exist from the start', async () => {
    const before = await samples('call_attempts_ended_total');
    expect(Object.values(before)).toEqual(Array.from({ length: 5 * PROTOCOLS.names.length }, () => 0));
    await observe('passed', {}, 'chat-completions');
    await observe('passed');
    await observe('passed');
    await observe('error');
    expect(await samples('call_attempts_ended_total')).toEqual({
      ...before,
      '{protocol="chat-completions",outcome="passed"}': 1,
      [`{protocol="${VOICE}",outcome="passed"}`]: 2,
      [`{protocol="${VOICE}",outcome="error"}`]: 1,
    });
  });

  it.each([
    ['interrupted', AbortSignal.abort(new Error('cancelled'))],
    ['error', new AbortController().signal],
  ])('count an attempt that throws as %s', async (outcome, signal) => {
    const failing = () => Promise.reject(new Error('no result'));
    await expect(calls.observe(VOICE, signal, failing)).rejects.toThrow('no result');
    const counted = Object.entries(await samples('call_attempts_ended_total')).filter(([, value]) => value > 0);
    expect(counted).toEqual([[`{protocol="${VOICE}",outcome="${outcome}"}`, 1]]);
    expect(await samples(`calls_in_progress{protocol="${VOICE}"}`)).toEqual({ '': 0 });
  });

  it('observe the lateness of frames and the longest stall of each call, in seconds', async () => {
    await observe('passed', { frameLatenessMs: { p50: 1, p99: 4, worst: 70 } });
    await observe('error', { frameLatenessMs: { p50: 1, p99: 96, worst: 300 }, worstStallMs: 250 });
    await observe('passed', {}, 'chat-completions');
    const lateness = await samples('call_frame_lateness_p99_seconds');
    expect(lateness).toMatchObject({
      [`_count{protocol="${VOICE}"}`]: 2,
      [`_sum{protocol="${VOICE}"}`]: 0.1,
      [`_bucket{le="0.005",protocol="${VOICE}"}`]: 1,
    });
    expect(Object.keys(lateness).filter((labels) => labels.includes('chat-completions'))).toEqual([]);
    expect(await samples('call_longest_stall_seconds')).toMatchObject({
      '_count{protocol="chat-completions"}': 1,
      [`_count{protocol="${VOICE}"}`]: 2,
      [`_bucket{le="0.2",protocol="${VOICE}"}`]: 1,
      [`_sum{protocol="${VOICE}"}`]: 0.25,
    });
  });

  it('show the calls that wait for a slot by protocol', async () => {
    const text = { protocol: 'chat-completions', calls: 2 };
    calls.setWaiting([text, { ...text, calls: 3 }, { protocol: VOICE, calls: 4 }]);
    const name = 'calls_waiting_for_slot';
    expect(await samples(name)).toEqual({
      ...NONE_WAITING,
      '{protocol="chat-completions"}': 5,
      [`{protocol="${VOICE}"}`]: 4,
    });
    calls.setWaiting([]);
    expect(await samples(name)).toEqual(NONE_WAITING);
  });

  it('observe synthesis and requests to the language model, in seconds', async () => {
    calls.observeSynthesis(150);
    calls.observeModelRequest(2_000, 'answered');
    calls.observeModelRequest(30_000, 'failed');
    expect(await samples('speech_synthesis_duration_seconds')).toMatchObject({
      _count: 1,
      _sum: 0.15,
      '_bucket{le="0.25"}': 1,
      '_bucket{le="0.1"}': 0,
    });
    expect(await samples('language_model_request_duration_seconds')).toMatchObject({
      '_count{outcome="answered"}': 1,
      '_sum{outcome="answered"}': 2,
      '_sum{outcome="failed"}': 30,
    });
  });

  it('show the memory of all media threads, and the last known one while one of them is blocked', async () => {
    const memory = jest.spyOn(mediaThreads, 'memoryBytes').mockResolvedValue(1_000_000);
    expect(await samples('voice_calls_memory_bytes')).toEqual({ '': 1_000_000 });
    memory.mockReturnValue(new Promise(() => undefined));
    expect(await samples('voice_calls_memory_bytes')).toEqual({ '': 1_000_000 });
  });

  it('count the threads of voice calls that ended unexpectedly, from 0', async () => {
    expect(await samples('voice_calls_thread_deaths_total')).toEqual({ '': 0 });
    calls.countThreadDeath();
    expect(await samples('voice_calls_thread_deaths_total')).toEqual({ '': 1 });
  });

  it('have no other labels than protocol and outcome', async () => {
    await observe('passed', { frameLatenessMs: { p50: 1, p99: 4, worst: 70 } });
    calls.observeModelRequest(1, 'answered');
    const ours = (await metrics.registry.getMetricsAsJSON()).filter(({ name }) => /call|speech|model/.test(name));
    const labels = ours.flatMap(({ values }) => values.flatMap((value) => Object.keys(value.labels)));
    expect(new Set(labels)).toEqual(new Set(['protocol', 'outcome', 'le']));
  });

  it('are absent in a process that executes no calls', async () => {
    create({ ROLE: 'api' });
    await observe('passed');
    expect(await metrics.registry.metrics()).not.toMatch(/call|speech|language_model/);
  });
});
