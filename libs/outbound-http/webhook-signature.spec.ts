import { Webhook } from 'standardwebhooks';
import { generateSecret, sign } from './webhook-signature.js';

const body = '{"type":"webhook.test","data":{"name":"Bella Vista – Ä"}}';
const id = 'f4e8c1d0-0000-4000-8000-000000000001';
const headers = (secrets: string[], time = new Date()) => ({
  'webhook-id': id,
  'webhook-timestamp': String(Math.floor(time.getTime() / 1000)),
  'webhook-signature': sign(secrets, id, time, body),
});

describe('webhook signatures', () => {
  it('are accepted by the standardwebhooks library for each of several secrets', () => {
    const [one, two] = [generateSecret(), generateSecret()];
    expect(one).not.toBe(two);
    const sent = headers([one, two]);
    expect(sent['webhook-signature']).toMatch(/^v1,\S{44} v1,\S{44}$/);
    for (const secret of [one, two]) expect(new Webhook(secret).verify(body, sent)).toEqual(JSON.parse(body));
    expect(() => new Webhook(generateSecret()).verify(body, sent)).toThrow('No matching signature');
    expect(() => new Webhook(one).verify(`${body} `, sent)).toThrow('No matching signature');
  });

  it.each(['my own secret', 'whsec_', 'whsec_not base64!', 'pässword', 'x'])(
    'use the bytes of the secret %j, which is not in the whsec_ format',
    (secret) => {
      const raw = new Webhook(Buffer.from(secret), { format: 'raw' });
      expect(raw.verify(body, headers([secret]))).toEqual(JSON.parse(body));
    },
  );

  it('equal the example of the specification', () => {
    const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
    const example = sign([secret], 'msg_p5jXN8AQM9LWM0D4loKWxJek', new Date(1_614_265_330_000), '{"test": 2432232314}');
    expect(example).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
  });
});
