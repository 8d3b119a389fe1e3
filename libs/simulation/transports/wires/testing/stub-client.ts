import { OutboundClient } from '../../../../outbound-http/index.js';

type Answered = Awaited<ReturnType<OutboundClient['request']>>;
type Request = Parameters<OutboundClient['request']>[0];

/** A client whose requests get one answer and reach nobody, and what was requested. */
export class StubClient extends OutboundClient {
  readonly requests: Request[] = [];

  constructor(
    private readonly body: string,
    private readonly status = 200,
    private readonly headers: Answered['headers'] = {},
  ) {
    super();
  }

  override request(request: Request): Promise<Answered> {
    this.requests.push(request);
    const { status, headers } = this;
    return Promise.resolve({ status, headers, body: Buffer.from(this.body), truncated: false, durationMs: 1 });
  }
}
