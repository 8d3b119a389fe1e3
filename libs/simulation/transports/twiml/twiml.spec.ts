import { parseTwiml } from './twiml.js';

describe('parseTwiml', () => {
  it('decodes character references in text and attributes, as often as a document has them', () => {
    const parameter = '<Parameter name="name" value="Jos&#233; &amp; Mar&#xED;a"/>';
    const say = `<Say>${'caf&#233; '.repeat(3_000)}</Say>`;
    const verbs = parseTwiml(
      `<Response>${say}<Connect><Stream url="wss://a.example/">${parameter}</Stream></Connect></Response>`,
    );
    expect(verbs).toMatchObject([
      { text: 'café '.repeat(3_000).trim() },
      { stream: { parameters: { name: 'José & María' } } },
    ]);
  });

  // Twilio reads TwiML with a strict parser (twilio/twilio-php#509, bmlt-enabled/yap#415), which refuses what XML 1.0 cannot
  // contain: TreeBASE/treebase#193, fugerit-org/fj-doc#214, ohler55/ox#250. The parser here would take them.
  it.each<readonly [string, string]>([
    ['\u0000', 'U+0000'],
    ['\u001a', 'U+001A'],
    ['\uffff', 'U+FFFF'],
    ...[
      '&#0;',
      '&#x0;',
      '&#x1B;',
      '&#xD83D;&#xDE00;',
      '&#55357;',
      '&#xFFFE;',
      '&#x110000;',
      '&#99999999999999999999;',
    ].map((reference) => [reference, /^&#\w+;/.exec(reference)![0]] as const),
  ])('refuses %j in text and attributes, as Twilio does', (given, named) => {
    const say = `<Response><Say>Hello ${given}</Say></Response>`;
    const attribute = `<Response><Connect><Stream url="wss://a.example/${given}"/></Connect></Response>`;
    for (const xml of [say, attribute]) expect(() => parseTwiml(xml)).toThrow(`it contains ${named.slice(0, 10)}`);
  });

  it('takes all other characters, and references in comments and CDATA, which are text', () => {
    const xml =
      '<Response><!-- &#0; --><Say>a\t\ufeff\u{1f600}&#x1F600;&#9;&amp;#0;\u0085</Say><Say><![CDATA[&#0;]]></Say></Response>';
    expect(parseTwiml(xml)).toMatchObject([{ text: 'a \u{1f600}\u{1f600} &#0;\u0085' }, { text: '&#0;' }]);
    // In linear time: without its end, each beginning would be searched to the end of the document.
    expect(() => parseTwiml(`<Response>${'<!--'.repeat(15_000)}</Response>`)).toThrow('Unclosed tag');
  });
});
