/** Time, tokens and cost of the tester's model in one task. */
export interface ModelUsage {
  readonly requests: number;
  readonly ms: number;
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** To a millionth of a dollar; null when prices or tokens are unknown. */
  readonly costUsd: number | null;
}

/** Prices in US dollars per million tokens. */
export interface ModelPrices {
  readonly prompt: number;
  readonly completion: number;
}

/** The tester's own usage on one call. */
export interface TesterUsage {
  readonly caller: ModelUsage;
  readonly judge: ModelUsage;
  /** Sum of both; null when one of them is unknown. */
  readonly costUsd: number | null;
}

/** Adds up the usage of the model in one task. */
export class ModelMeter {
  private readonly total = { requests: 0, ms: 0, promptTokens: 0, completionTokens: 0 };
  private areTokensKnown = true;

  /** @param prices without them the cost is unknown */
  constructor(private readonly prices?: ModelPrices) {}

  /** @param tokens undefined when the server does not report them */
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

/** The usage of both tasks. */
export function testerUsage(caller: ModelMeter, judge: ModelMeter): TesterUsage {
  const uses = { caller: caller.use, judge: judge.use };
  return { ...uses, costUsd: totalCostUsd([uses.caller, uses.judge]) };
}

/** Sum of costs; null when one of them is unknown. */
export function totalCostUsd(uses: readonly { readonly costUsd: number | null }[]): number | null {
  let sum = 0;
  for (const { costUsd } of uses) {
    if (costUsd === null) return null;
    sum += costUsd;
  }
  return Math.round(sum * 1e6) / 1e6;
}
