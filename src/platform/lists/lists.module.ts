import { Logger, Module } from '@nestjs/common';
import { Database, type LongList } from '../database/database.js';
import { defineJob } from '../queue/job.js';
import { Queue } from '../queue/queue.js';
import { ListKeeper } from './list-keeper.js';

/** Counts up one list. */
const KEEP = defineJob<LongList>({ name: 'lists.keep', kind: 'maintenance', maxAttempts: 3 });

/** How long this process does not ask again for the same list, in milliseconds. */
const ASK_AGAIN_MS = 2_000;

/** Lists are counted up when somebody reads them and finds much that is not: a list that nobody reads costs nothing. */
@Module({ providers: [ListKeeper] })
export class ListsModule {
  private readonly logger = new Logger('Lists');
  /** When each list was last asked for. */
  private readonly asked = new Map<string, number>();

  constructor(
    private readonly queue: Queue,
    database: Database,
    keeper: ListKeeper,
  ) {
    queue.handle(KEEP, (list, { signal }) => keeper.keep(list, signal));
    database.onLongList((list) => this.ask(list));
  }

  /** In the background: the reader has its page. */
  private ask(list: LongList): void {
    const jobKey = `${KEEP.name}:${list.list}:${list.scope}`;
    const now = performance.now();
    if (now - (this.asked.get(jobKey) ?? -Infinity) < ASK_AGAIN_MS) return;
    for (const [key, at] of this.asked) if (now - at >= ASK_AGAIN_MS) this.asked.delete(key);
    this.asked.set(jobKey, now);
    this.queue.enqueue(KEEP, list, { jobKey }).catch((error: unknown) => {
      this.logger.warn(`A long list could not be queued for counting: ${String(error)}`);
    });
  }
}
