import { COMMON_OPTIONS } from './common-options.js';
import type { AgentEndpoint } from './endpoint.js';
import type { ProtocolModule } from './module.js';
import { VOICE_OPTIONS } from './voice-options.js';

/** The protocols that are built; everything that lists them is derived from it. */
export interface Registry {
  readonly all: readonly ProtocolModule[];
  readonly names: readonly string[];
  /** Steps of all connection tests, in an order that suits each of them. */
  readonly steps: readonly string[];
  /** Headers in lower case that a connection must not set. */
  readonly reservedHeaders: ReadonlySet<string>;
  has(name: string): boolean;
  /** @param options of a connection, for what it provides with them @throws Error for a name that is not built */
  of(name: string, options?: AgentEndpoint['options']): ProtocolModule;
}

export function registry(built: readonly ProtocolModule[]): Registry {
  const modules = built.map((module) => {
    const common = module.medium === 'voice' ? { ...VOICE_OPTIONS, ...COMMON_OPTIONS } : COMMON_OPTIONS;
    return { ...module, options: { ...common, ...module.options } };
  });
  const byName = new Map(modules.map((module) => [module.name, module]));
  if (byName.size !== modules.length) throw new Error('Two protocols have the same name.');
  for (const module of modules) requireTwin(module, byName);
  return {
    all: modules,
    names: [...byName.keys()],
    steps: modules.reduce<string[]>((steps, module) => merged(steps, Object.keys(module.steps)), []),
    reservedHeaders: new Set(modules.flatMap(({ reservedHeaders }) => reservedHeaders)),
    has: (name) => byName.has(name),
    of: (name, options) => {
      const module = byName.get(name);
      if (!module) throw new Error(`There is no protocol "${name}".`);
      return options && module.providedWith ? { ...module, provides: module.providedWith(options) } : module;
    },
  };
}

/** A connection of one of the twins must be valid for the other one. @throws Error */
function requireTwin(module: ProtocolModule, byName: ReadonlyMap<string, ProtocolModule>): void {
  if (module.twin === undefined) return;
  const twin = byName.get(module.twin);
  const schemes = ({ schemes: all }: ProtocolModule) => [...all].sort().join(' ');
  const fits =
    twin?.twin === module.name &&
    twin.medium !== module.medium &&
    twin.defaultUrl === module.defaultUrl &&
    schemes(twin) === schemes(module);
  if (!fits) throw new Error(`"${module.twin}" is not the twin of "${module.name}".`);
}

/** Inserts the steps that are missing before the next one that is known. */
function merged(known: readonly string[], steps: readonly string[]): string[] {
  const result = [...known];
  steps.forEach((step, index) => {
    if (result.includes(step)) return;
    const next = steps.slice(index).find((later) => result.includes(later));
    result.splice(next === undefined ? result.length : result.indexOf(next), 0, step);
  });
  return result;
}
