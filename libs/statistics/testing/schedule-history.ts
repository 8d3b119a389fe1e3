import { type CaseLook, type CaseLooks, LOOKS_USED } from '../fall.js';
import { type Fallen, findFalls, recoveredFrom } from '../falls.js';

/** Mulberry32. */
export function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** An agent at one look. */
export interface Night {
  /** Chance of each call to pass. */
  readonly rate: number;
  /** Correlation of the calls of the night; 0: they are independent. */
  readonly correlation?: number;
}

export interface Plan {
  readonly nights: number;
  /** Cases and calls of each of them. */
  readonly cases: number;
  readonly calls: number;
  readonly looksAWeek?: number;
  readonly night: (night: number) => Night;
  /** The first night of another tester, or of other checks: earlier ones cannot be compared with it. */
  readonly changedAt?: number;
  /** Whether calls have latencies, which do not change. */
  readonly hasLatencies?: boolean;
}

/** Histories of an agent that does not change. */
export const CONDITIONS = [0, 0.05].flatMap((correlation) =>
  [0.8, 0.95, 1].flatMap((rate) =>
    [5, 20, 50].flatMap((calls) => [
      { rate, correlation, cases: 1, calls },
      ...(calls === 5 ? [] : [{ rate, correlation, cases: 10, calls: calls / 10 }]),
    ]),
  ),
);

/** Mean number in 100 weeks, by design. */
export const MAX_FALSE_ALARMS = 1;

/** Upper 95 % bound of the mean of counts: that of a Poisson distribution (Garwood 1936), or wider if they vary more. */
export function meanBound(counts: readonly number[]): number {
  const total = counts.reduce((sum, count) => sum + count, 0);
  const mean = total / counts.length;
  const variance = counts.reduce((sum, count) => sum + (count - mean) ** 2, 0) / Math.max(1, counts.length - 1);
  let [low, high] = [total, total + 10 * Math.sqrt(total + 1)];
  for (let step = 0; step < 60; step++) {
    const middle = (low + high) / 2;
    if (poissonAtMost(total, middle) > 0.05) low = middle;
    else high = middle;
  }
  return Math.max(high / counts.length, mean + 1.6448536 * Math.sqrt(variance / counts.length));
}

function poissonAtMost(count: number, mean: number): number {
  let [term, sum] = [-mean, 0];
  for (let k = 0; k <= count; k++) {
    sum += Math.exp(term);
    term += Math.log(mean) - Math.log(k + 1);
  }
  return sum;
}

/** Positions of the looks at which a seeded history of a schedule raises alarms, as the service does: one until it is over. */
export function alarmsOf(plan: Plan, random: () => number): number[] {
  const { nights, looksAWeek = 7 } = plan;
  const alarms: number[] = [];
  const history: CaseLook[][] = [];
  // Looks that are compared: those of falls that are over are left out.
  let used: number[] = [];
  let open: (Fallen & { readonly at: number; readonly from: number })[] = [];
  const columns = (positions: readonly number[]): CaseLooks[] =>
    Array.from({ length: plan.cases }, (_, index) => ({
      caseKey: `case-${index}`,
      looks: positions.map((at) => history[at]![index]!),
    }));
  for (let night = 0; night < nights; night++) {
    history.push(lookOf(plan, night, random));
    if (night === plan.changedAt) used = [];
    used.push(night);
    for (const one of open) {
      const after = used.filter((at) => at > one.at);
      const recovered = recoveredFrom(one, columns(after));
      if (recovered === undefined) continue;
      open = open.filter((other) => other !== one);
      used = used.filter((at) => at < one.from || at >= after[recovered]!);
    }
    const newest = used.slice(-LOOKS_USED);
    for (const fall of findFalls(columns(newest), looksAWeek, open)) {
      alarms.push(night);
      open.push({ ...fall, at: night, from: newest[fall.from]! });
    }
  }
  return alarms;
}

function lookOf({ cases, calls, night, hasLatencies = false }: Plan, at: number, random: () => number): CaseLook[] {
  const { rate, correlation = 0 } = night(at);
  // A beta-binomial night has the given correlation of any two of its calls.
  const tonight =
    correlation === 0 ? rate : beta(rate * (1 / correlation - 1), (1 - rate) * (1 / correlation - 1), random);
  return Array.from({ length: cases }, () => {
    let passed = 0;
    for (let call = 0; call < calls; call++) if (random() < tonight) passed++;
    const latencies = hasLatencies ? Array.from({ length: calls }, () => 500 + 1_000 * random()) : [];
    return { counted: calls, passed, latencies };
  });
}

function beta(a: number, b: number, random: () => number): number {
  if (a === 0 || b === 0) return a === 0 ? 0 : 1;
  const [x, y] = [gamma(a, random), gamma(b, random)];
  return x + y === 0 ? Number(random() < a / (a + b)) : x / (x + y);
}

/** Marsaglia and Tsang 2000. */
function gamma(shape: number, random: () => number): number {
  if (shape < 1) return gamma(shape + 1, random) * random() ** (1 / shape);
  const d = shape - 1 / 3;
  const c = 1 / Math.sqrt(9 * d);
  for (;;) {
    const x = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
    const v = (1 + c * x) ** 3;
    if (v > 0 && Math.log(1 - random()) < x ** 2 / 2 + d - d * v + d * Math.log(v)) return d * v;
  }
}
