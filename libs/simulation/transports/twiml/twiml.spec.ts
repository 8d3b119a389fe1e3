import { parseTwiml } from './twiml.js';

const read = (xml: string, charset?: string) => parseTwiml(Buffer.from(xml), charset);

describe('parseTwiml', () => {
  it('decodes character references in text and attributes, as often as a document has them', () => {
    const parameter = '<Parameter name="name" value="Jos&#233; &amp; Mar&#xED;a"/>';
    const say = `<Say>${'caf&#233; '.repeat(3_000)}</Say>`;
    const verbs = read(
      `<Response>${say}<Connect><Stream url="wss://a.example/">${parameter}</Stream></Connect></Response>`,
    );
    expect(verbs).toMatchObject([
      { text: 'café '.repeat(3_000).trim() },
      { stream: { parameters: { name: 'José & María' } } },
    ]);
  });

  // Twilio reads TwiML with a strict parser (twilio/twilio-php#509, bmlt-enabled/yap#415), which refuses what XML 1.0 cannot
  // contain: TreeBASE/treebase#193, fugerit-org/fj-doc#214, ohler55/ox#250.
  it.each([
    ...['\u0000', '\u001a', '\uffff', '&#0;', '&#x0;', '&#x1B;', '&#xD83D;&#xDE00;', '&#55357;', '&#xFFFE;'],
    ...['&#x110000;', '&#99999999999999999999;'],
  ])('refuses %j in text and attributes, as Twilio does', (given) => {
    const say = `<Response><Say>Hello ${given}</Say></Response>`;
    const attribute = `<Response><Connect><Stream url="wss://a.example/${given}"/></Connect></Response>`;
    for (const xml of [say, attribute]) expect(() => read(xml)).toThrow(/line 1: (disallowed|malformed) character/);
  });

  // twilio/twilio-node#500, #501 and #8, stevegraham/twilio-js#3, bmlt-enabled/yap#415: Twilio error 12100.
  it.each([
    ['the value of a parameter', '<Stream url="wss://a.example/m"><Parameter name="q" value="fish & chips"/></Stream>'],
    ['an action', '<Stream url="wss://a.example/m"/></Connect><Gather action="/next?a=1&b=2"/><Connect>'],
    ['an address like an entity', '<Stream url="wss://a.example/m?a=1&copy=2"/>'],
  ])('refuses an & that is not escaped in %s, and says so', (_name, noun) => {
    const document = `<?xml version="1.0"?>\n<Response><!-- R&D --><Connect>${noun}</Connect></Response>`;
    expect(() => read(document)).toThrow('line 2: an & that is not escaped; write &amp;');
  });

  // twilio/twilio-node#504: an address that was escaped twice is legal XML, and another address.
  it('keeps what was escaped twice as it is', () => {
    const document = '<Response><Redirect>/next?a=1&amp;amp;b=2</Redirect></Response>';
    expect(read(document)).toMatchObject([{ url: '/next?a=1&amp;b=2' }]);
    const parts = '<Response><Redirect>/next?a=1<![CDATA[&]]>b=2</Redirect></Response>';
    expect(read(parts)).toMatchObject([{ url: '/next?a=1&b=2' }]);
  });

  it.each([
    ['its declaration', '<?xml version="1.0" encoding="ISO-8859-1"?>', 'latin1', undefined],
    ['a byte order mark', '\ufeff<?xml version="1.0"?>', 'utf16le', undefined],
    ['the Content-Type', '', 'latin1', 'iso-8859-1'],
    // StringWriter of .NET declares UTF-16 in what is then sent as UTF-8.
    ['the Content-Type before the declaration', '<?xml version="1.0" encoding="utf-16"?>', 'utf8', 'utf-8'],
  ] as const)('decodes by %s', (_name, declaration, encoding, charset) => {
    const body = Buffer.from(`${declaration}<Response><Say>Café</Say></Response>`, encoding);
    expect(parseTwiml(body, charset)).toMatchObject([{ text: 'Café' }]);
  });

  it.each([
    [Buffer.from('<Response><Say>Café</Say></Response>', 'latin1'), undefined, 'its bytes are not utf-8'],
    [Buffer.from('<Response/>'), 'x-unknown', 'its bytes are not x-unknown'],
  ])('refuses other bytes than those of the encoding', (body, charset, what) => {
    expect(() => parseTwiml(body, charset)).toThrow(what);
  });

  it('takes all other characters, and references in comments and CDATA, which are text', () => {
    const xml =
      '<Response><!-- &#0; --><Say>a\t\ufeff\u{1f600}&#x1F600;&#9;&amp;#0;\u0085</Say><Say><![CDATA[&#0;]]></Say></Response>';
    expect(read(xml)).toMatchObject([{ text: 'a \u{1f600}\u{1f600} &#0;\u0085' }, { text: '&#0;' }]);
    // In linear time: without its end, each beginning would be searched to the end of the document.
    expect(() => read(`<Response>${'<!--'.repeat(15_000)}</Response>`)).toThrow(/line 1: /);
  });
});
