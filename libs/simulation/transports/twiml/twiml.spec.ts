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
});
