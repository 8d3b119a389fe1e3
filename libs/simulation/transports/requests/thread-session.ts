import type { AgentCall, AgentEndpoint } from '../modules/endpoint.js';
import type { Dialled, DialOptions, ModuleBase, ProtocolModule, WireModule, WireSession } from '../modules/module.js';
import { HeldTask } from './held-task.js';
import type { RequestThreads } from './request-thread.js';

/** The session of a voice call, whose requests are sent in a request thread from the first one until `close`. */
export function threadSession(
  module: WireModule,
  endpoint: AgentEndpoint,
  call: AgentCall,
  threads: RequestThreads,
): WireSession {
  const session = module.session(endpoint, call);
  let task: HeldTask | undefined;
  const held = () => (task ??= new HeldTask(threads, module, call, ['session', endpoint, call]));
  const asked: Pick<WireSession, 'after' | 'probe' | 'hangUp' | 'recorded'> & { dial?: WireSession['dial'] } = {};
  if (!session.isDirect) {
    asked.dial = async (options: DialOptions) => {
      const dialled = await held().ask<Dialled>('dial', options);
      session.stream = dialled.stream;
      return dialled;
    };
    if (session.hangUp) asked.hangUp = async () => task?.ask('hangUp');
    if (session.recorded) asked.recorded = (signal) => held().ask('recorded', signal);
    if (session.after) asked.after = (facts, signal) => held().ask('after', facts, signal);
  }
  if (session.probe) asked.probe = (problem, signal) => held().ask('probe', problem, signal);
  return Object.assign(Object.create(session) as WireSession, { ...asked, close: () => task?.close() });
}

const PLATFORM_METHODS = ['end', 'find', 'assistants', 'agentVersion'] as const;
const RECORDS_METHODS = ['list', 'get', 'recording'] as const;

/** The requests to a platform beside calls, which are sent in a request thread of the workspace. */
export function threadPlatform(
  module: ProtocolModule,
  workspaceId: string,
  threads: RequestThreads,
): Pick<ModuleBase, (typeof PLATFORM_METHODS)[number] | 'records'> {
  const { source, name, records } = module;
  const asked = (method: string) =>
    [
      method.replace('records.', ''),
      (...args: readonly unknown[]) =>
        threads.use(workspaceId, new AbortController().signal, (thread) =>
          thread.run(`a request to ${name}`, { source, name }, (peer) => peer.ask(method, ...args)),
        ),
    ] as const;
  const methods = PLATFORM_METHODS.filter((method) => module[method]).map(asked);
  const reading = RECORDS_METHODS.filter((method) => records?.[method]).map((method) => asked(`records.${method}`));
  return Object.fromEntries<unknown>([
    ...methods,
    ...(records ? [['records', Object.fromEntries(reading)] as const] : []),
  ]);
}
