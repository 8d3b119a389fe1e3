import { getPriority } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import { serveTasks } from '../serve-tasks.js';
import { preferThread } from '../thread-priority.js';

serveTasks((task: string): unknown => {
  switch (task) {
    case 'throw':
      throw new Error('thrown in the thread');
    case 'loop':
      for (;;);
    case 'fill': {
      const all: string[][] = [];
      for (;;) all.push(Array.from({ length: 10_000 }, (_, i) => `text ${i}`));
    }
    case 'limit':
      return getHeapStatistics().heap_size_limit;
    case 'prefer':
      return [preferThread(), getPriority()];
    case 'exit':
      return process.exit(3);
    default:
      return task.toUpperCase();
  }
});
