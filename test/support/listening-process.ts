import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { PROJECT_ROOT } from '../../src/platform/project-root.js';
import type { Listened, ListeningInput } from './listening-program.js';
import { programArguments } from './program.js';

type Message = { readonly url: string } | { readonly listened: Listened };

/** A transcription server in a process of its own, which gets nothing of a call but its audio. */
export class ListeningProcess {
  readonly received: Listened[] = [];
  url = '';

  private constructor(private readonly child: ChildProcess) {
    child.on('message', (message: Message) => {
      if ('url' in message) this.url = message.url;
      else this.received.push(message.listened);
    });
  }

  static async start(input: ListeningInput): Promise<ListeningProcess> {
    const args = [...programArguments('test/support/listening-program.ts'), JSON.stringify(input)];
    const child = spawn(process.execPath, args, { cwd: PROJECT_ROOT, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    const started = new ListeningProcess(child);
    const exit = once(child, 'exit').then(([code]) => {
      throw new Error(`The transcription server ended with ${String(code)}`);
    });
    exit.catch(() => undefined);
    while (started.url === '') await Promise.race([once(child, 'message'), exit]);
    return started;
  }

  async stop(): Promise<void> {
    if (this.child.exitCode !== null) return;
    const ended = once(this.child, 'exit');
    this.child.kill();
    await ended;
  }
}
