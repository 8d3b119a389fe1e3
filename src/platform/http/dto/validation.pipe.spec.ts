import 'reflect-metadata';
import { DomainError } from '../../errors/domain-error.js';
import { NumberField, StringField } from './fields.js';
import { InputPipe } from './validation.pipe.js';

class Body {
  @StringField({ description: 'Name', maxLength: 5, minLength: 1 })
  name: string;

  @NumberField({ description: 'Size', optional: true, minimum: 0 })
  size?: number;
}

describe('InputPipe', () => {
  const pipe = new InputPipe();
  const check = (value: unknown, type: 'body' | 'query' = 'body') => pipe.transform(value, { type, metatype: Body });
  const issuesOf = async (value: unknown): Promise<readonly string[] | undefined> => {
    const error: unknown = await check(value).catch((thrown: unknown) => thrown);
    if (!(error instanceof DomainError)) throw new Error('The body was accepted', { cause: error });
    expect([error.code, error.message]).toEqual(['BAD_REQUEST', 'Invalid input data']);
    return error.issues?.map(({ message }) => message);
  };

  it('returns an instance of the class', async () => {
    const body = await check({ name: 'x', size: -0 });
    expect(body).toBeInstanceOf(Body);
    expect(body).toEqual({ name: 'x', size: -0 });
  });

  it.each(['toString', 'hasOwnProperty', '__proto__', 'constructor', 'then'])(
    'rejects the field name %s',
    async (name) => {
      const value = JSON.parse(`{"name":"x","${name}":1}`) as object;
      expect(await issuesOf(value)).toEqual([`${name} is not a known field`]);
    },
  );

  it('names the field of each issue', async () => {
    const error: unknown = await check({ name: 'x', size: -1, colour: 1 }).catch((thrown: unknown) => thrown);
    expect((error as DomainError).issues).toEqual([
      { message: 'colour is not a known field', field: 'colour' },
      { message: 'size must not be less than 0', field: 'size' },
    ]);
  });

  it('accepts a query object without a prototype', async () => {
    const query = Object.assign(Object.create(null) as object, { name: 'x' });
    await expect(check(query, 'query')).resolves.toEqual({ name: 'x' });
  });

  it('reports all violations, of unknown and invalid fields', async () => {
    expect(await issuesOf({ name: 'too long', size: -1, extra: 1 })).toEqual([
      'extra is not a known field',
      'name must have at most 5 characters',
      'size must not be less than 0',
    ]);
  });

  it('shortens long names and long lists', async () => {
    const [issue] = (await issuesOf({ name: 'x', ['n'.repeat(1_000)]: 1 })) ?? [];
    expect(issue).toBe(`${'n'.repeat(100)}… is not a known field`);
    const many = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`f${i}`, i]));
    const issues = await issuesOf({ name: 'x', ...many });
    expect(issues).toHaveLength(100);
    expect(issues?.at(-1)).toBe('body has 401 further violations');
  });
});
