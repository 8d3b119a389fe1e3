import type { OutboundClient } from '../../../libs/outbound-http/index.js';
import { about, invalidInput } from '../errors/domain-error.js';

/**
 * Rejects an address that every delivery would fail for.
 * @param field name of the field in the issue
 * @throws DomainError BAD_REQUEST
 */
export function checkUrl(outbound: OutboundClient, field: string, url: string): void {
  switch (outbound.check(url)) {
    case 'URL_REFUSED':
      throw invalidInput(about(field, 'must be an absolute http or https address without user name and password'));
    case 'ADDRESS_REFUSED':
      throw invalidInput(
        about(field, 'must not point to a private or reserved network unless OUTBOUND_ALLOWED_NETWORKS allows it'),
      );
    case undefined:
  }
}
