import fc from 'fast-check';

/** What an agent says and calls, in order. */
export type Item = { readonly text: string } | { readonly name: string; readonly arguments: string };

const item: fc.Arbitrary<Item> = fc.oneof(
  fc.record({ text: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }) }),
  fc.record({
    name: fc.constantFrom('book', 'find_table', 'sms'),
    arguments: fc
      .dictionary(
        fc.constantFrom('p', 'to', 'q'),
        fc.oneof(fc.integer(), fc.string({ unit: 'grapheme' }), fc.constant('}{')),
      )
      .map((value) => JSON.stringify(value)),
  }),
);

/** How a server writes an answer. The first fields are read by OpenAI's own client, too; the others are not. */
export interface Dialect {
  /** Of every chunk but the last. */
  readonly reason: null | '' | undefined;
  readonly lastReason: 'stop' | 'tool_calls';
  /** In further parts of a call. */
  readonly id: 'repeated' | '' | null | undefined;
  readonly name: 'repeated' | '' | null | undefined;
  readonly firstArguments: 'with name' | '' | null | undefined;
  readonly emptyContent: null | undefined;
  readonly lineEnd: '\n' | '\r\n' | '\r';
  readonly space: '' | ' ';
  readonly comments: boolean;
  readonly usage: boolean;
  readonly done: boolean;
  readonly reversed: boolean;
  readonly parts: number;
  readonly index: 'counted' | null | undefined | 'always 0' | 'from 1' | 'text';
  readonly events: boolean;
  readonly content: 'text' | 'parts';
  readonly objects: boolean;
}

const common = {
  reason: fc.constantFrom<null | '' | undefined>(null, '', undefined),
  lastReason: fc.constantFrom('stop' as const, 'tool_calls' as const),
  id: fc.constantFrom<Dialect['id']>('repeated', '', null, undefined),
  name: fc.constantFrom<Dialect['name']>('repeated', '', null, undefined),
  firstArguments: fc.constantFrom<Dialect['firstArguments']>('with name', '', null, undefined),
  emptyContent: fc.constantFrom(null, undefined),
  lineEnd: fc.constantFrom('\n' as const, '\r\n' as const, '\r' as const),
  space: fc.constantFrom('' as const, ' ' as const),
  comments: fc.boolean(),
  usage: fc.boolean(),
  done: fc.boolean(),
  reversed: fc.boolean(),
  parts: fc.integer({ min: 1, max: 4 }),
};

export const answers = fc.array(item, { minLength: 1, maxLength: 6 });
export const commonDialects: fc.Arbitrary<Dialect> = fc.record({
  ...common,
  index: fc.constant('counted' as const),
  events: fc.constant(false),
  content: fc.constant('text' as const),
  objects: fc.constant(false),
});
/** Those that Vercel's AI SDK reads. Without an index it needs the id in each part of a call, and it loses lone CRs. */
export const aiSdkDialects: fc.Arbitrary<Dialect> = fc
  .record({
    ...common,
    lineEnd: fc.constantFrom('\n' as const, '\r\n' as const),
    index: fc.constantFrom<Dialect['index']>('counted', null, undefined, 'from 1'),
    events: fc.constant(false),
    content: fc.constant('text' as const),
    objects: fc.constant(false),
  })
  .filter(({ index, id }) => typeof index === 'string' || id === 'repeated');
export const allDialects: fc.Arbitrary<Dialect> = fc.record({
  ...common,
  index: fc.constantFrom<Dialect['index']>('counted', null, undefined, 'always 0', 'from 1', 'text'),
  events: fc.boolean(),
  content: fc.constantFrom('text' as const, 'parts' as const),
  objects: fc.boolean(),
});

/** The body of an answer in a dialect. */
export function written(items: readonly Item[], dialect: Dialect): string {
  const { lineEnd, space, comments, usage, done, events, reason, lastReason } = dialect;
  let body = '';
  const send = (chunk: object) => {
    if (comments) body += `: keep-alive${lineEnd}${lineEnd}`;
    if (events) body += `event: agent.progress${lineEnd}data: {"status":"running"}${lineEnd}${lineEnd}`;
    body += `data:${space}${JSON.stringify(chunk)}${lineEnd}${lineEnd}`;
  };
  const chunk = (delta: object, finish: string | null | undefined = reason) => {
    const fields = Object.entries({ index: 0, delta, finish_reason: finish });
    const choice: unknown = Object.fromEntries(dialect.reversed ? fields.reverse() : fields);
    send({ id: 'x', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [choice] });
  };
  chunk({ role: 'assistant', content: '' });
  let calls = 0;
  for (const one of items) {
    if ('text' in one) {
      for (const text of cut([...one.text], dialect.parts))
        chunk({ content: dialect.content === 'text' ? text : [{ type: 'text', text }] });
    } else
      for (const call of partsOf(one, calls++, dialect)) chunk({ content: dialect.emptyContent, tool_calls: [call] });
  }
  chunk({}, lastReason);
  if (usage)
    send({ id: 'x', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [], usage: { total_tokens: 3 } });
  return done ? `${body}data:${space}[DONE]${lineEnd}${lineEnd}` : body;
}

function partsOf(call: { readonly name: string; readonly arguments: string }, n: number, dialect: Dialect): object[] {
  const { index, id, name, firstArguments, objects, parts } = dialect;
  const place = { counted: n, 'always 0': 0, 'from 1': n + 1, text: String(n) };
  const given = { index: index === null || index === undefined ? index : place[index], type: 'function' };
  const own = `call_${n}_x`;
  if (objects)
    return [{ ...given, id: own, function: { name: call.name, arguments: JSON.parse(call.arguments) as unknown } }];
  const texts = cut([...call.arguments], parts);
  const first = firstArguments === 'with name' ? texts.shift() : firstArguments;
  return [
    { ...given, id: own, function: { name: call.name, arguments: first } },
    ...texts.map((text) => ({
      ...given,
      id: id === 'repeated' ? own : id,
      function: { name: name === 'repeated' ? call.name : name, arguments: text },
    })),
  ];
}

/** The text in this many pieces, or fewer. */
function cut(characters: readonly string[], count: number): string[] {
  const size = Math.max(1, Math.ceil(characters.length / count));
  const pieces: string[] = [];
  for (let at = 0; at < characters.length; at += size) pieces.push(characters.slice(at, at + size).join(''));
  return pieces;
}

/** A body in pieces that end anywhere, also in the middle of a character. @param cuts from 0 to 1 */
export function inPieces(body: string, cuts: readonly number[]): Uint8Array[] {
  const bytes = Buffer.from(body);
  const ends = cuts.map((share) => Math.floor(share * bytes.length)).toSorted((a, b) => a - b);
  return [0, ...ends].map((from, index) => bytes.subarray(from, ends[index] ?? bytes.length));
}
