import { OutboundClient } from '../../../outbound-http/index.js';
import { RealClock } from '../../time/clock.js';
import type { Stall } from '../../time/stalls.js';
import type { Failure } from '../../timeline/failure.js';
import type { JsonValue } from '../../timeline/text.js';
import type { VoiceFacts } from '../../voice/facts/facts.js';
import type { Assistant, AssistantsWindow, ListedAssistants } from '../modules/assistants.js';
import type { AgentCall, AgentEndpoint } from '../modules/endpoint.js';
import type { ProtocolModule, TextModule, WireModule, WireSession } from '../modules/module.js';
import { HostedLine } from './hosted-line.js';
import type { DialSettings, OpenedTask, PlainCall, SessionDialled } from './messages.js';
import type { Peer, PeerMethods } from './peer.js';

/** Characters of a text of an assistant that the main thread gets: more than any agent can have. */
const MAX_TEXT = 256 * 1024;

/** What a request thread does for one task. */
export interface HostedTask {
  readonly methods: PeerMethods;
  close(): void;
}

/** What a task asks the main thread for. */
type MainThread = Pick<Peer, 'ask' | 'tell'>;

/** @param timeOrigin of the main thread's `performance` */
export function hostTask(opened: OpenedTask, timeOrigin: number, main: MainThread): HostedTask {
  const { task, client: settings } = opened;
  const clock = new MainClock(performance.timeOrigin - timeOrigin);
  const resolve = (hostname: string) => main.ask<string[]>('resolve', [hostname]);
  const client = new OutboundClient({ ...settings, resolve });
  const load = async <Module extends ProtocolModule>() => (await loaded(opened)) as Module;
  switch (task.type) {
    case 'line': {
      const open = async () => {
        const { transport } = await load<TextModule>();
        return new HostedLine(transport(task.endpoint, callOf(task.call, client, main)), clock, task.options, main);
      };
      let line: Promise<HostedLine> | undefined;
      return {
        methods: {
          greet: async () => (await (line ??= open())).greet(),
          say: async (_signal, text: string) => (await (line ??= open())).say(text),
        },
        close: () => void line?.then((one) => one.close()).catch(() => undefined),
      };
    }
    case 'session': {
      let session: WireSession | undefined;
      const open = async () =>
        (session ??= (await load<WireModule>()).session(task.endpoint, callOf(task.call, client, main)));
      return {
        methods: {
          dial: async (signal, { maxMs, speaks }: DialSettings): Promise<SessionDialled> => {
            const one = await open();
            const dialled = await one.dial({
              ...{ signal, maxMs },
              onStep: (step) => main.tell('step', step, clock.now()),
              ...(speaks && { speak: (text) => main.ask<Int16Array>('speak', [text]) }),
            });
            const { answeredAt } = dialled;
            const moved = answeredAt !== undefined && { answeredAt: answeredAt + clock.offset };
            return { dialled: { ...dialled, ...moved }, stream: one.stream };
          },
          after: async (signal, facts: VoiceFacts) => (await open()).after?.(facts, signal),
          probe: async (signal, problem: Failure | undefined) => (await open()).probe?.(problem, signal),
        },
        close: () => undefined,
      };
    }
    case 'platform': {
      const account = task.account as AgentEndpoint & { readonly apiKey: string };
      const request = (signal: AbortSignal) => ({ endpoint: account, client, signal });
      return {
        methods: {
          end: async (signal, handle: JsonValue) => (await load()).end?.(handle, request(signal)),
          find: async (signal, attemptId: string) => (await load()).find?.(attemptId, request(signal)),
          assistants: async (signal, window: AssistantsWindow) =>
            bounded(await (await load()).assistants!({ ...account, client }, window, signal)),
        },
        close: () => undefined,
      };
    }
  }
}

/** Only the module of the protocol, so that a thread stays small. */
async function loaded({ source, protocol }: OpenedTask): Promise<ProtocolModule> {
  const exported = Object.values((await import(source)) as Record<string, Partial<ProtocolModule>>);
  return exported.find(({ name, medium }) => name === protocol && medium !== undefined) as ProtocolModule;
}

function callOf({ hasLedger, ...call }: PlainCall, client: OutboundClient, main: MainThread): AgentCall {
  const ledger = {
    placed: (...placed: readonly unknown[]) => main.ask<void>('placed', placed),
    identified: (id: string) => main.ask<void>('identified', [id]),
    paid: (seconds: number) => main.ask<void>('paid', [seconds]),
  };
  return { ...call, client, ...(hasLedger && { ledger }) };
}

const bounded = ({ items, total }: ListedAssistants): ListedAssistants => ({
  items: items.map(
    (one) =>
      Object.fromEntries(
        Object.entries(one).map(([name, text]) => [name, (text as string | null)?.slice(0, MAX_TEXT) ?? null]),
      ) as unknown as Assistant,
  ),
  total,
});

/** The clock of the main thread, so that it need not translate times. */
class MainClock extends RealClock {
  constructor(readonly offset: number) {
    super();
  }

  override now(): number {
    return super.now() + this.offset;
  }

  override stallsSince(time: number): Stall[] {
    const { offset } = this;
    return super.stallsSince(time - offset).map(({ start, end }) => ({ start: start + offset, end: end + offset }));
  }
}
