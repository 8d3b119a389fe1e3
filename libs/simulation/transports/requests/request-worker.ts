import { parentPort } from 'node:worker_threads';
import { answeredMemory } from '../../../concurrency/index.js';
import type { AgentCall, AgentEndpoint } from '../modules/endpoint.js';
import type { ProtocolModule, WireSession } from '../modules/module.js';
import { HostedLine, type LineSettings } from './hosted-line.js';
import type { RequestMessage, RequestReply, TaskModule } from './messages.js';
import { Peer } from './peer.js';

const port = parentPort;
if (!port) throw new Error('This module runs in a worker thread');

const reply = (message: RequestReply) => port.postMessage(message);
const tasks = new Map<number, Task>();

/** What the main thread has opened: it asks for methods of the module, of a session or of a line. */
class Task {
  readonly peer: Peer;
  private session: WireSession | undefined;
  private line: HostedLine | undefined;

  constructor(
    private readonly id: number,
    private readonly of: TaskModule,
  ) {
    this.peer = new Peer(
      (message) => reply({ type: 'peer', id, message }),
      (method: string, ...args: readonly never[]) => this.do(method, args),
    );
  }

  /** What still goes on, such as ending a call that was placed, may ask the main thread until it is over. */
  async close(): Promise<void> {
    this.line?.close();
    await this.peer.settled();
    tasks.delete(this.id);
    reply({ type: 'closed', id: this.id });
  }

  private async do(method: string, args: readonly never[]): Promise<unknown> {
    const module = await this.load();
    const [endpoint, call, settings] = args as unknown as [AgentEndpoint, AgentCall, LineSettings];
    if (method === 'session' && module.medium === 'voice') this.session = module.session(endpoint, call);
    else if (method === 'line' && module.medium === 'text') {
      this.line = new HostedLine(module.transport(endpoint, call), settings);
    } else if (method.startsWith('records.')) return this.methods(module.records)[method.slice(8)]?.(...args);
    else return this.methods(this.line ?? this.session ?? module)[method]?.(...args);
    return undefined;
  }

  private methods(of: unknown): Record<string, (...args: readonly never[]) => unknown> {
    return of as ReturnType<Task['methods']>;
  }

  /** Only the module of the protocol, so that a thread stays small. */
  private async load(): Promise<ProtocolModule> {
    const exported = Object.values((await import(this.of.source)) as Record<string, Partial<ProtocolModule>>);
    return exported.find(({ name, medium }) => name === this.of.name && medium !== undefined) as ProtocolModule;
  }
}

port.on('message', (message: RequestMessage) => {
  if (answeredMemory(message)) return;
  const { id } = message;
  if (message.type === 'open') tasks.set(id, new Task(id, message.module));
  else if (message.type === 'peer') tasks.get(id)?.peer.receive(message.message);
  else void tasks.get(id)?.close();
});
