/**
 * Lets one after the other begin, each in a turn of the event loop of its own. When a hundred calls speak at the same
 * moment, the last one's request would otherwise be written only after the preparation of the ninety-nine others, which
 * would count as its agent's latency.
 */
export class Pacer {
  private readonly waiting: (() => void)[] = [];
  private next = 0;

  turn(): Promise<void> {
    return new Promise((resolve) => {
      if (this.waiting.push(resolve) - this.next === 1) setImmediate(this.step);
    });
  }

  private readonly step = (): void => {
    this.waiting[this.next++]?.();
    if (this.next < this.waiting.length) setImmediate(this.step);
    else {
      this.waiting.length = 0;
      this.next = 0;
    }
  };
}
