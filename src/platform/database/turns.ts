/** One after the other, of those with the same subject; others do not wait. */
export class Turns {
  private readonly last = new Map<string, Promise<void>>();

  /**
   * @param patienceMs how long the turn may take to come
   * @throws Error that says so, as a pool does whose connections are in use; what `work` throws
   */
  run<Result>(subject: string, patienceMs: number, work: () => Promise<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      let isWaiting = true;
      const timer = setTimeout(() => {
        isWaiting = false;
        reject(new Error('timeout exceeded when trying to connect'));
      }, patienceMs);
      const turn = async () => {
        clearTimeout(timer);
        if (isWaiting) await work().then(resolve, reject);
      };
      const mine = (this.last.get(subject) ?? Promise.resolve()).then(turn).then(() => {
        if (this.last.get(subject) === mine) this.last.delete(subject);
      });
      this.last.set(subject, mine);
    });
  }
}
