import { OutboundClient } from '../../../libs/outbound-http/index.js';

/** HTTP client for servers that the administrator sets, which may be in private networks; for no other addresses. */
export const operatorClient = (): OutboundClient => new OutboundClient({ allowedNetworks: ['0.0.0.0/0', '::/0'] });
