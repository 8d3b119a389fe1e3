import { digitsOf, IncomingCall, Registration, type SipEndpoint, type SipFailure } from '../../../../../sip/index.js';

/** How a caller is named that withholds its number: a user or the host of From. */
const WITHHELD = /^(?:anonymous|restricted|unavailable|unknown|private|withheld)?$/i;
const WITHHELD_HOST = /^anonymous\.invalid$/i;

export interface ExpectedCaller {
  /** User of the account. */
  readonly account: string;
  /** The number from which the agent calls. */
  readonly from: string;
  /** Whether SRTP is required. */
  readonly srtp?: boolean;
}

/** A number on which one call is expected: registered from `open` to `end`. Other calls are refused without media. */
export class ExpectedCall {
  /** The call that was expected, ringing. Rejects with a `SipFailure` if calls cannot come any more. */
  readonly came: Promise<IncomingCall>;
  /** Who else called, as their digits end: numbers are personal data. */
  readonly strays: string[] = [];
  #settle!: { readonly resolve: (call: IncomingCall) => void; readonly reject: (failure: SipFailure) => void };
  #registration: Registration | undefined;
  #isTaken = false;

  private constructor(
    private readonly endpoint: SipEndpoint,
    private readonly caller: ExpectedCaller,
  ) {
    this.came = new Promise((resolve, reject) => (this.#settle = { resolve, reject }));
    // Nobody may wait for it yet.
    this.came.catch(() => undefined);
    endpoint.listener = {
      invited: (request) => this.#invited(new IncomingCall(endpoint, request, { srtp: caller.srtp === true })),
      closed: (cause) =>
        this.#settle.reject({ failure: 'disconnected', reason: cause?.message ?? 'the connection was closed' }),
    };
  }

  static async open(endpoint: SipEndpoint, caller: ExpectedCaller): Promise<ExpectedCall | SipFailure> {
    const expected = new ExpectedCall(endpoint, caller);
    const lost = (failure: SipFailure) => expected.#settle.reject(failure);
    const registration = await Registration.open(endpoint, { account: caller.account, lost });
    if (!(registration instanceof Registration)) return registration;
    expected.#registration = registration;
    return expected;
  }

  /** Removes our Contact from the registrar, and closes the connection. */
  async end(): Promise<void> {
    this.#isTaken = true;
    await this.#registration?.end();
    this.endpoint.close();
  }

  /** Calls to another Contact than ours do not reach this: they get 404. */
  #invited(call: IncomingCall): void {
    if (this.#isTaken || !isFrom(call.from, this.caller.from)) {
      this.strays.push(`…${(digitsOf(partsOf(call.from).user) ?? '').slice(-3)}`);
      return call.refuse(486);
    }
    this.#isTaken = true;
    call.ring(() => (this.#isTaken = false));
    this.#settle.resolve(call);
  }
}

/** The user and the host of a `sip:` or `tel:` address. */
function partsOf(address: string): { readonly user: string; readonly host: string } {
  const [, user = '', host = ''] = /^(?:sips?:(?:([^@]*)@)?|tel:)([^;?>]*)/i.exec(address) ?? [];
  return /^tel:/i.test(address) ? { user: host, host: '' } : { user, host: host.replace(/:\d+$/, '') };
}

/** Whether the caller is the agent, or withholds its number. @param number E.164 */
export function isFrom(address: string, number: string): boolean {
  const { user, host } = partsOf(address);
  const isWithheld = WITHHELD.test(user) || WITHHELD_HOST.test(host);
  return isWithheld || (digitsOf(user) !== undefined && digitsOf(user) === digitsOf(number));
}
