import { InputPipe } from '../../../../platform/http/dto/validation.pipe.js';
import { PutConnectionRequest } from './connection.dtos.js';

const put = (protocol: string): Promise<unknown> =>
  new InputPipe().transform(
    { protocol, url: 'wss://agent.example.com/' },
    { type: 'body', metatype: PutConnectionRequest },
  );

describe('PutConnectionRequest', () => {
  it('takes the protocols of the service, and not those that only tests have', async () => {
    await expect(put('twilio-media-streams')).resolves.toMatchObject({ protocol: 'twilio-media-streams' });
    await expect(put('fixture-wire')).rejects.toMatchObject({
      issues: [{ message: expect.stringMatching(/^protocol must be one of .*chat-completions, twilio-media-streams/) }],
    });
  });
});
