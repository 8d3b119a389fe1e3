import fc from 'fast-check';
import { CallFailure } from '../timeline/failure.js';
import { type Element, isElement, readXml } from '../transports/twiml/xml.js';

/**
 * All text of a document, and the value of its first attribute `url`, as the service reads them and xmllint prints them.
 * Undefined for a document that is refused.
 */
export function readDocument(bytes: Uint8Array): string | undefined {
  try {
    const root = readXml(bytes);
    return `${textOf(root)}|${urlOf(root) ?? ''}\n`;
  } catch (error) {
    if (error instanceof CallFailure) return undefined;
    throw error;
  }
}

const textOf = (child: Element | string): string => (isElement(child) ? child.children.map(textOf).join('') : child);

const urlOf = ({ attributes, children }: Element): string | undefined =>
  attributes.url ??
  children
    .filter(isElement)
    .map(urlOf)
    .find((url) => url !== undefined);

const oneOf = (...texts: string[]) => fc.constantFrom(...texts);
/** Mostly the usual text, often another legal one, seldom a fault. */
const mostly = (usual: string, legal: readonly string[], faults: readonly string[] = []) =>
  fc.oneof(
    { weight: 60, arbitrary: fc.constant(usual) },
    { weight: legal.length === 0 ? 0 : 30, arbitrary: oneOf(...(legal.length === 0 ? [usual] : legal)) },
    { weight: faults.length === 0 ? 0 : 1, arbitrary: oneOf(...(faults.length === 0 ? [usual] : faults)) },
  );
const joined = (...parts: fc.Arbitrary<string>[]) => fc.tuple(...parts).map((texts) => texts.join(''));

const text = mostly(
  'Hello',
  ['fish &amp; chips', '&#233;&#xE9;', 'café', '\u{1f600}', '>', '"\'', '\t\n', ']] >', '&#9;', '&quot;', '\u0085'],
  ['&', 'a & b', '&nbsp;', '&copy', '&#;', '&#x;', '&#1;', '&;', ']]>', '\u0001', '&amp', '&lt', '< b', '\u0000'],
);
const value = mostly(
  'wss://a.example/m',
  ['/next?a=1&amp;b=2', 'a > b', 'line\nbreak', '', '&#xD;', '&lt;'],
  ['/next?a=1&b=2', 'a & b', '&copy=2', 'a < b', '&eacute;', '\u0002'],
);
const quoted = fc.oneof(
  { weight: 40, arbitrary: value.map((found) => `"${found}"`) },
  { weight: 20, arbitrary: value.map((found) => `'${found}'`) },
  { weight: 1, arbitrary: oneOf('unquoted', '“smart”', '"', '') },
);
const attribute = (name: string) =>
  joined(
    mostly(' ', ['\n', '  '], ['']),
    mostly(name, [`data-${name}`, `a.${name}`, `é${name}`], ['1st', '-x', 'name']),
    mostly('=', [' = '], ['', '==']),
    quoted,
  );
const aside = mostly(
  '\n  ',
  ['<!-- R&D -->', '<!---->', '<!-- a - b -->', '<?target data?>', '<?xml-x a&b?>', ''],
  ['<!-- a -- b -->', '<!-- a --->', '<!-- ', '<![CDATA[', '<?xml version="1.0"?>', '<?XML?>', '<?>', '<! x>'],
);
const tag = mostly('Say', ['Stream', 'say', 'a.b-c_d', 'é'], ['1a', 'a b', '']);
const shape = mostly('right', ['empty', 'space', 'cdata'], ['open', 'other']);

const { element } = fc.letrec<{ element: string }>((tie) => {
  const child = fc.oneof({ maxDepth: 3 }, text, aside, tie('element'));
  const children = fc.array(child, { maxLength: 3 });
  return {
    element: fc
      .tuple(tag, attribute('url'), attribute('name'), children, shape)
      .map(([name, first, second, inside, how]) => {
        if (how === 'empty') return `<${name}${first}${second}/>`;
        const end = { open: '', other: `</${name}x>`, space: `</${name} >` }[how] ?? `</${name}>`;
        const cdata = how === 'cdata' ? '<![CDATA[a & b < c]]>' : '';
        return `<${name}${first}>${cdata}${inside.join('')}${end}`;
      }),
  };
});

const declaration = mostly(
  '<?xml version="1.0" encoding="UTF-8"?>',
  [
    '',
    "<?xml version='1.0'?>",
    '<?xml version="1.0" standalone="yes"?>',
    '\ufeff',
    '\n',
    '\ufeff<?xml version="1.0"?>',
  ],
  [
    ...[' <?xml version="1.0"?>', '\n<?xml version="1.0"?>', '<?XML version="1.0"?>', '<?xml?>', 'hello'],
    ...[
      '<?xml encoding="UTF-8"?>',
      '<?xml version="1.0" encoding="UTF-16"?>',
      '<?xml version="1.0"?><?xml version="1.0"?>',
    ],
  ],
);
const response = fc
  .array(element, { minLength: 1, maxLength: 2 })
  .map((verbs) => `<Response>${verbs.join('')}</Response>`);
/** Documents in legal and faulty dialects of XML, some of them cut off. */
export const documents = fc
  .tuple(
    joined(declaration, aside, response, aside, mostly('', ['\n', ' '], ['<Response/>', 'text'])),
    fc.option(fc.double({ min: 0, max: 1, noNaN: true }), { freq: 1, nil: null }),
    fc.integer({ min: 0, max: 9 }),
    mostly('utf8', [], ['latin1']),
  )
  .map(([document, cut, chance, encoding]) => {
    const bytes = Buffer.from(document, encoding as BufferEncoding);
    return cut === null || chance > 0 ? bytes : bytes.subarray(0, Math.round(cut * bytes.length));
  });
