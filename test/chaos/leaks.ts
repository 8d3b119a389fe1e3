import type { Installation } from './installation.js';
import type { ServiceProcess } from './service-process.js';

/** Resources held by one process, according to its metrics. */
export interface ResourceUsage {
  readonly megabytes: number;
  /** Undefined where the operating system does not report it. */
  readonly files: number | undefined;
  readonly handles: number;
  /** Pool connections that are in use or waited for. */
  readonly borrowed: number;
}

const METRICS = {
  megabytes: /^process_resident_memory_bytes (\S+)/m,
  files: /^process_open_fds (\S+)/m,
  handles: /^nodejs_active_handles_total (\S+)/m,
  used: /^database_connections\{state="used"\} (\S+)/m,
  waiting: /^database_connections\{state="waiting"\} (\S+)/m,
} as const;

export async function resourceUsageOf({ metricsUrl }: ServiceProcess): Promise<ResourceUsage> {
  const text = await (await fetch(`${metricsUrl}/metrics`)).text();
  const read = (name: keyof typeof METRICS) => {
    const value = METRICS[name].exec(text)?.[1];
    return value === undefined ? undefined : Number(value);
  };
  return {
    megabytes: Math.round((read('megabytes') ?? NaN) / 2 ** 20),
    files: read('files'),
    handles: read('handles') ?? NaN,
    borrowed: (read('used') ?? NaN) + (read('waiting') ?? NaN),
  };
}

/** Sessions of the service in the database. */
export const sessionsOf = (installation: Installation): Promise<number> =>
  installation.onDatabase(async (database) => {
    const { rows } = await database.query(
      'SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
    );
    return rows[0].n as number;
  });
