import { isIP, connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { OutboundClient } from '../../../../outbound-http/index.js';
import type { SipAddress, SipConnect } from '../../../../sip/index.js';
import type { OtherSide } from '../../../other-side/other-side.js';
import { CallFailure, type FailureCode } from '../../../timeline/failure.js';
import { addressesOf } from '../../http/outbound-failures.js';

const CONNECT_MS = 10_000;

interface ConnectOptions {
  readonly signal?: AbortSignal;
  readonly onStep?: (step: string) => void;
  readonly onSocket?: (socket: Socket) => void;
}

/** As the outbound filter takes it. */
export const httpUrl = ({ host, port }: { readonly host: string; readonly port: number }): string =>
  `http://${isIP(host) === 6 ? `[${host}]` : host}:${port}`;

/** Opens connections through the outbound filter: to an address that it permits, and by name to no other one. */
export const connectThrough =
  (client: OutboundClient, agent: OtherSide, options: ConnectOptions = {}): SipConnect =>
  async (address) => {
    const addresses = await addressesOf(client, httpUrl(address), agent);
    options.onStep?.('resolved');
    let failed: unknown;
    for (const ip of addresses) {
      try {
        const socket = await opened(address, ip, options);
        options.onSocket?.(socket);
        return socket;
      } catch (error) {
        options.signal?.throwIfAborted();
        failed = error;
      }
    }
    const { code = 'connection_failed', what } = failed as { code?: FailureCode; what?: string };
    throw new CallFailure(code, agent.describe({ what }));
  };

/** @throws code of a failure, and what the system says */
function opened(
  { host, port, transport }: SipAddress,
  ip: string,
  { signal, onStep }: ConnectOptions,
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    let isConnected = false;
    // The server name must not be an IP address (RFC 6066, section 3).
    const name = isIP(host.replace(/^\[(.*)\]$/, '$1')) === 0 ? { servername: host } : {};
    const socket = transport === 'tls' ? connectTls({ host: ip, port, ...name }) : connectTcp({ host: ip, port });
    const fail = (what: string | undefined) => {
      socket.destroy();
      reject(Object.assign(new Error(what), { code: isConnected ? 'tls_failed' : 'connection_failed', what }));
    };
    const onAbort = () => fail('aborted');
    const timer = setTimeout(() => fail(`no connection within ${CONNECT_MS / 1_000} s`), CONNECT_MS);
    signal?.addEventListener('abort', onAbort, { once: true });
    socket.once('close', () => clearTimeout(timer));
    socket.once('connect', () => {
      isConnected = true;
      onStep?.('connected');
    });
    socket.once('error', ({ code }: NodeJS.ErrnoException) => fail(code));
    socket.once(transport === 'tls' ? 'secureConnect' : 'connect', () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
      if (transport === 'tls') onStep?.('secured');
      resolve(socket);
    });
  });
}
