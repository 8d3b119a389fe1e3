/** Time and tokens of one of the tester's own models. */
export interface ModelUse {
  readonly requests: number;
  readonly ms: number;
  readonly promptTokens: number;
  readonly completionTokens: number;
}

/** What the tester itself took of time and tokens. */
export interface TesterUse {
  readonly caller: ModelUse;
  readonly judge: ModelUse;
}

/** Adds up what one of the models takes. */
export class ModelMeter {
  private readonly total = { requests: 0, ms: 0, promptTokens: 0, completionTokens: 0 };

  add(ms: number, promptTokens: number, completionTokens: number): void {
    this.total.requests++;
    this.total.ms += ms;
    this.total.promptTokens += promptTokens;
    this.total.completionTokens += completionTokens;
  }

  get use(): ModelUse {
    return { ...this.total, ms: Math.round(this.total.ms) };
  }
}
