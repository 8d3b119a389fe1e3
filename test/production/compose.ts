import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import { settingSpecs } from '../../src/platform/config/settings.js';

export interface ComposeService {
  readonly name: string;
  readonly environment: Readonly<Record<string, string>>;
}

interface Service {
  readonly build?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly env_file?: readonly { readonly path: string; readonly required: boolean }[];
  readonly depends_on?: Readonly<Record<string, { condition: string }>>;
  readonly volumes?: readonly string[];
  readonly healthcheck?: { readonly disable?: boolean; readonly test?: unknown };
  readonly image: string;
}

/** What the image and the proxy rely on, whatever the file .env contains. */
const FIXED = { HOST: '0.0.0.0', PORT: '3000', DATA_DIR: '/app/data' };

/**
 * Checks compose.yaml, and reads the services that are built from this project.
 * @param variables content of the file .env
 * @throws Error that names the service and the cause
 */
export function readCompose(root: string, variables: Readonly<Record<string, string>>): ComposeService[] {
  const text = readFileSync(path.join(root, 'compose.yaml'), 'utf8');
  const { services, volumes } = parse(text, { merge: true, strict: true }) as {
    services: Record<string, Service>;
    volumes: Record<string, unknown>;
  };
  const settings = Object.keys(settingSpecs(false));
  const built: ComposeService[] = [];
  for (const [name, service] of Object.entries(services)) {
    const check = (holds: boolean, cause: string) => {
      if (!holds) throw new Error(`compose.yaml: ${name}: ${cause}`);
    };
    check(/:\S+$/.test(service.image), 'its image has no tag');
    for (const [other, { condition }] of Object.entries(service.depends_on ?? {})) {
      check(services[other] !== undefined, `it depends on ${other}, which is missing`);
      const { healthcheck, build } = services[other]!;
      const isChecked = healthcheck?.disable !== true && (healthcheck?.test !== undefined || build !== undefined);
      check(condition !== 'service_healthy' || isChecked, `${other} has no health check`);
    }
    for (const volume of service.volumes ?? []) {
      check(Object.hasOwn(volumes, volume.split(':')[0]!), `the volume of ${volume} is missing`);
    }
    if (service.build === undefined) continue;
    const environment = Object.entries(service.environment ?? {});
    for (const [setting] of environment) check(settings.includes(setting), `${setting} is not a setting`);
    for (const [setting, value] of Object.entries(FIXED)) {
      check(service.environment?.[setting] === value, `${setting} must be ${value}`);
    }
    const isRead = service.env_file?.some((file) => file.path === '.env' && !file.required);
    check(isRead === true, 'it does not get the settings of the file .env');
    built.push({
      name,
      environment: {
        ...variables,
        ...Object.fromEntries(environment.map(([key, value]) => [key, substituted(value, variables)])),
      },
    });
  }
  return built;
}

/** Values for `${NAME}`, `${NAME:-default}` and `${NAME:?message}`, as Docker Compose replaces them. */
function substituted(value: string, variables: Readonly<Record<string, string>>): string {
  return value.replaceAll(/\$\{(\w+)(?::([-?])([^}]*))?\}/g, (_, name: string, operator: string, rest: string) => {
    const given = variables[name];
    if (given !== undefined && given !== '') return given;
    if (operator === '?') throw new Error(`compose.yaml: ${name} is required: ${rest}`);
    return rest ?? '';
  });
}
