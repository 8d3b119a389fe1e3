import { type Count, Counters } from './counters.js';
import { stateOf, Windows } from './windows.js';

/** The counters of this process alone. */
export class ProcessCounters extends Counters {
  constructor(private readonly windows = new Windows()) {
    super();
  }

  increment(key: string, ttl: number, limit: number): Promise<Count> {
    const window = this.windows.find(key) ?? this.windows.open(key, ttl);
    window.hits += 1;
    return Promise.resolve(stateOf(window, ttl, limit));
  }

  peek(key: string, ttl: number, limit: number): Promise<Count> {
    return Promise.resolve(stateOf(this.windows.find(key), ttl, limit));
  }
}
