import type { ServiceProcess } from './service-process.js';

/** Resources held by one process, according to its metrics. */
export interface ResourceUsage {
  /** Name of the service, and of the process if it has several. */
  readonly name: string;
  /** Differs for every process, also for one that replaced another. */
  readonly id: string;
  /** In milliseconds since 1970. */
  readonly startedAt: number;
  readonly megabytes: number;
  /** Undefined where the operating system does not report it. */
  readonly files: number | undefined;
  readonly handles: number;
  /** Pool connections that are in use or waited for. */
  readonly borrowed: number;
}

/** What each process of a service holds. */
export async function resourceUsageOf({ name, metricsUrl }: ServiceProcess): Promise<ResourceUsage[]> {
  const text = await (await fetch(`${metricsUrl}/metrics`)).text();
  // Services of one process have no label for it.
  return [...text.matchAll(/^process_start_time_seconds(?:\{process="(\w+)"\})? (\S+)$/gm)].map(
    ([, process, start]) => {
      const read = (metric: string, label = '') => {
        const labels = [label, process && `process="${process}"`].filter(Boolean).join(',');
        const line = `${metric}${labels && `{${labels}}`} `;
        const found = text.split('\n').find((each) => each.startsWith(line));
        return found === undefined ? undefined : Number(found.slice(line.length));
      };
      const fullName = [name, process].filter(Boolean).join(' ');
      return {
        name: fullName,
        id: `${fullName} ${start}`,
        startedAt: Number(start) * 1_000,
        megabytes: Math.round((read('process_resident_memory_bytes') ?? NaN) / 2 ** 20),
        files: read('process_open_fds'),
        handles: read('nodejs_active_handles_total') ?? NaN,
        borrowed:
          (read('database_connections', 'state="used"') ?? NaN) +
          (read('database_connections', 'state="waiting"') ?? NaN),
      };
    },
  );
}
