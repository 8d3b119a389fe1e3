/** Time, tokens and money of one of the tester's own models. */
export interface ModelUsage {
  readonly requests: number;
  readonly ms: number;
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** To a millionth of a dollar; null when prices or tokens of what was asked are not known. */
  readonly costUsd: number | null;
}

/** What a model's tokens cost, in US dollars per million. */
export interface ModelPrices {
  readonly prompt: number;
  readonly completion: number;
}

/** What the tester itself took of time and tokens. */
export interface TesterUsage {
  readonly caller: ModelUsage;
  readonly judge: ModelUsage;
  /** Of both; null when one of them is not known. */
  readonly costUsd: number | null;
}

/** Adds up what one of the models takes. */
export class ModelMeter {
  private readonly total = { requests: 0, ms: 0, promptTokens: 0, completionTokens: 0 };
  private areTokensKnown = true;

  /** @param prices without them, the cost of what is asked is not known */
  constructor(private readonly prices?: ModelPrices) {}

  /** @param tokens undefined when the server does not tell */
  add(ms: number, tokens: { readonly prompt: number; readonly completion: number } | undefined): void {
    this.total.requests++;
    this.total.ms += ms;
    this.total.promptTokens += tokens?.prompt ?? 0;
    this.total.completionTokens += tokens?.completion ?? 0;
    this.areTokensKnown &&= tokens !== undefined;
  }

  get use(): ModelUsage {
    return { ...this.total, ms: Math.round(this.total.ms), costUsd: this.costUsd };
  }

  private get costUsd(): number | null {
    const { prices, total } = this;
    if (total.requests === 0) return 0;
    if (!prices || !this.areTokensKnown) return null;
    // Dollars per million tokens are millionths of a dollar per token.
    return Math.round(total.promptTokens * prices.prompt + total.completionTokens * prices.completion) / 1e6;
  }
}

/** What both models of a call took. */
export function testerUsage(caller: ModelMeter, judge: ModelMeter): TesterUsage {
  const uses = { caller: caller.use, judge: judge.use };
  return { ...uses, costUsd: totalCostUsd([uses.caller, uses.judge]) };
}

/** A sum of costs; null when one of them is not known. */
export function totalCostUsd(uses: readonly { readonly costUsd: number | null }[]): number | null {
  let sum = 0;
  for (const { costUsd } of uses) {
    if (costUsd === null) return null;
    sum += costUsd;
  }
  return Math.round(sum * 1e6) / 1e6;
}
