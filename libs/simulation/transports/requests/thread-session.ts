import type { OutboundClient } from '../../../outbound-http/index.js';
import type { Failure } from '../../timeline/failure.js';
import type { JsonValue } from '../../timeline/text.js';
import type { VoiceFacts } from '../../voice/facts/facts.js';
import type { ListedAssistants, PlatformAccount } from '../modules/assistants.js';
import type { AgentCall, AgentEndpoint } from '../modules/endpoint.js';
import type {
  DialOptions,
  Dialled,
  Found,
  ModuleBase,
  Probed,
  ProtocolModule,
  WireModule,
  WireSession,
} from '../modules/module.js';
import { HeldTask, ledgerMethods, plainCall, type RequestThreads } from './held-task.js';
import type { DialSettings, SessionDialled } from './messages.js';

/** The session of a voice call, whose requests are sent in a request thread from `dial` until `close`. */
export function threadSession(
  module: WireModule,
  endpoint: AgentEndpoint,
  call: AgentCall,
  threads: RequestThreads,
): WireSession {
  const session = module.session(endpoint, call);
  let task: HeldTask | undefined;
  let dialling: DialOptions | undefined;
  const open = () =>
    (task ??= new HeldTask(
      threads,
      module,
      call,
      { type: 'session', endpoint, call: plainCall(call) },
      {
        ...ledgerMethods(call),
        step: (_signal, step: string, at: number) => dialling?.onStep(step, at),
        speak: (_signal, text: string) => dialling?.speak?.(text),
      },
    ));
  const dial = async (options: DialOptions): Promise<Dialled> => {
    dialling = options;
    const settings: DialSettings = { maxMs: options.maxMs, speaks: options.speak !== undefined };
    const { dialled, stream } = await open().ask<SessionDialled>('dial', [settings], options.signal);
    session.stream = stream;
    return dialled;
  };
  return Object.assign(Object.create(session) as WireSession, {
    close: () => task?.close(),
    ...(!session.isDirect && { dial }),
    ...(!session.isDirect &&
      session.after && {
        after: (facts: VoiceFacts, signal: AbortSignal) => open().ask<Found>('after', [facts], signal),
      }),
    ...(session.probe && {
      probe: (problem: Failure | undefined, signal: AbortSignal) => open().ask<Probed>('probe', [problem], signal),
    }),
  });
}

type PlatformRequests = Pick<ModuleBase, 'end' | 'find' | 'assistants'>;

/** The requests to a platform beside calls, which are sent in a request thread of the workspace. */
export function threadPlatform(module: ProtocolModule, workspaceId: string, threads: RequestThreads): PlatformRequests {
  const { end, find, assistants, name } = module;
  type Account = AgentEndpoint | Omit<PlatformAccount, 'client'>;
  const ask = async <T>(
    client: OutboundClient,
    account: Account,
    signal: AbortSignal,
    method: string,
    arg: unknown,
  ) => {
    const owner = { client, workspaceId, callId: `a request to ${name}` };
    const task = new HeldTask(threads, module, owner, { type: 'platform', account });
    return task.ask<T>(method, [arg], signal).finally(() => task.close());
  };
  return {
    ...(end && { end: (handle, { client, endpoint, signal }) => ask<void>(client, endpoint, signal, 'end', handle) }),
    ...(find && {
      find: (id, { client, endpoint, signal }) => ask<JsonValue | null>(client, endpoint, signal, 'find', id),
    }),
    ...(assistants && {
      assistants: ({ client, ...account }, window, signal) =>
        ask<ListedAssistants>(client, account, signal, 'assistants', window),
    }),
  };
}
