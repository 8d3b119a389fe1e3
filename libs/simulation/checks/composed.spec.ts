import type { NestedCheck } from '../../evaluation-definition/index.js';
import type { Finding } from './check-result.js';
import { COMPOSED } from './composed.js';
import type { Evaluate } from './kind.js';

/** `t3` is met and settled by entry 3, `f` is not met, `?` is undecided. */
const named = (name: string): NestedCheck => ({ type: 'max_turns', turns: 1, name });
const evaluate: Evaluate = ({ name }) => {
  const met = name![0] === '?' ? null : name![0] === 't';
  const finding: Finding = {
    met,
    detail: `detail of ${name}`,
    evidence: [{ entry: Number(name![1] ?? 0), quote: name! }],
  };
  return Promise.resolve(name!.length > 1 ? { ...finding, settledBy: Number(name![1]) } : finding);
};
const checks = (names: string) => names.split(' ').map(named);

describe('composed checks', () => {
  it.each([
    ['f f', false],
    ['f t', true],
    ['? t', true],
    ['? f', null],
    ['?', null],
  ])('any_of %s is %s', async (names, met) => {
    expect((await COMPOSED.any_of.evaluate({ type: 'any_of', checks: checks(names) }, evaluate)).met).toBe(met);
  });

  it.each([
    ['t t', true],
    ['t f', false],
    ['? f', false],
    ['? t', null],
  ])('all_of %s is %s', async (names, met) => {
    expect((await COMPOSED.all_of.evaluate({ type: 'all_of', checks: checks(names) }, evaluate)).met).toBe(met);
  });

  it.each([
    ['t', false],
    ['f', true],
    ['?', null],
  ])('not %s is %s', async (name, met) => {
    expect((await COMPOSED.not.evaluate({ type: 'not', check: named(name) }, evaluate)).met).toBe(met);
  });

  it.each([
    ['f', 'f', true],
    ['f', '?', true],
    ['t', 't', true],
    ['t', 'f', false],
    ['t', '?', null],
    ['?', 't', true],
    ['?', 'f', null],
  ])('when %s then %s is %s', async (condition, then, met) => {
    const check = { type: 'when', if: named(condition), then: named(then) } as const;
    expect((await COMPOSED.when.evaluate(check, evaluate)).met).toBe(met);
  });

  it('are settled once the parts leave no other result', async () => {
    expect(await COMPOSED.any_of.evaluate({ type: 'any_of', checks: checks('t4 t2 f1') }, evaluate)).toMatchObject({
      settledBy: 2,
    });
    expect(await COMPOSED.any_of.evaluate({ type: 'any_of', checks: checks('f4 f2') }, evaluate)).toMatchObject({
      settledBy: 4,
    });
    expect(await COMPOSED.any_of.evaluate({ type: 'any_of', checks: checks('f4 f') }, evaluate)).not.toHaveProperty(
      'settledBy',
    );
    expect(await COMPOSED.all_of.evaluate({ type: 'all_of', checks: checks('f4 f2 t') }, evaluate)).toMatchObject({
      settledBy: 2,
    });
    expect(await COMPOSED.not.evaluate({ type: 'not', check: named('t3') }, evaluate)).toMatchObject({
      met: false,
      settledBy: 3,
    });
    const when = { type: 'when', if: named('t2'), then: named('f5') } as const;
    expect(await COMPOSED.when.evaluate(when, evaluate)).toMatchObject({ met: false, settledBy: 5 });
  });

  it('name the parts that decided, with their evidence', async () => {
    expect(await COMPOSED.any_of.evaluate({ type: 'any_of', checks: checks('f1 f2') }, evaluate)).toMatchObject({
      detail: 'None is met: f1 (detail of f1); f2 (detail of f2)',
      evidence: [
        { entry: 1, quote: 'f1' },
        { entry: 2, quote: 'f2' },
      ],
    });
    expect(await COMPOSED.all_of.evaluate({ type: 'all_of', checks: checks('t1 f2') }, evaluate)).toMatchObject({
      detail: 'Not met: f2 (detail of f2)',
      evidence: [{ entry: 2, quote: 'f2' }],
    });
  });
});
