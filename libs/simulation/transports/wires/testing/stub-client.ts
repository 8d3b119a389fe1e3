import { OutboundClient, type OutboundStream } from '../../../../outbound-http/index.js';

type Request = Parameters<OutboundClient['open']>[0];

/** A client whose requests get one answer and reach nobody, and what was requested. */
export class StubClient extends OutboundClient {
  readonly requests: Request[] = [];

  constructor(
    private readonly body: string,
    private readonly status = 200,
    private readonly headers: OutboundStream['headers'] = {},
  ) {
    super();
  }

  override open(request: Request): Promise<OutboundStream> {
    this.requests.push(request);
    const { status, headers } = this;
    const body = (async function* (said: Buffer) {
      yield said;
    })(Buffer.from(this.body));
    return Promise.resolve({ status, headers, body, close: () => undefined });
  }
}
