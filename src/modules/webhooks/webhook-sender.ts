import { Injectable } from '@nestjs/common';
import { OutboundClient, OutboundError } from '../../../libs/outbound-http/index.js';
import { retryAfterMs } from '../../../libs/text/index.js';
import { KeyRing } from '../../platform/encryption/key-ring.js';
import { API_VERSION } from '../../platform/api-version.js';
import { AgentsService } from '../agents/agents.service.js';
import type { ClaimedDelivery, Outcome } from './webhook-deliveries.repository.js';
import { webhookSecretPurpose } from './webhook-endpoint.entity.js';
import { WebhookPolicy } from './webhook-policy.js';
import { sign } from './webhook-signature.js';

interface Target {
  readonly url: string;
  /** Decrypted; the current one first. */
  readonly secrets: readonly string[];
}

/** Makes one attempt at a delivery: signs it, sends it and evaluates the response. */
@Injectable()
export class WebhookSender {
  constructor(
    private readonly outbound: OutboundClient,
    private readonly keyRing: KeyRing,
    private readonly agents: AgentsService,
    private readonly policy: WebhookPolicy,
  ) {}

  /** @returns the outcome, or undefined if `signal` aborted the attempt */
  async send(delivery: ClaimedDelivery, signal: AbortSignal): Promise<Outcome | undefined> {
    const target = await this.target(delivery);
    const time = new Date();
    const startedAt = performance.now();
    const outcome = (result: Outcome['result'], responseStatus: number | null, error: string | null): Outcome => {
      const durationMs = Math.round(performance.now() - startedAt);
      return { result, attempt: { time: time.toISOString(), responseStatus, durationMs, error } };
    };
    if (!target) return outcome('GONE', null, 'The agent no longer has a webhook address');
    try {
      const { status, headers } = await this.outbound.request({
        url: target.url,
        method: 'POST',
        headers: this.headers(delivery, target, time),
        body: delivery.body,
        timeoutMs: this.policy.timeout,
        maxBodyBytes: this.policy.maxResponseBytes,
        signal,
      });
      if (status >= 200 && status < 300) return outcome('DELIVERED', status, null);
      const retryAfter = retryAfterMs(headers['retry-after']);
      return { ...outcome(status === 410 ? 'GONE' : 'FAILED', status, refusal(status)), retryAfter };
    } catch (error) {
      if (!(error instanceof OutboundError)) throw error;
      return error.reason === 'ABORTED' ? undefined : outcome('FAILED', null, error.message);
    }
  }

  private headers({ eventId, body }: ClaimedDelivery, { secrets }: Target, time: Date): Record<string, string> {
    return {
      'content-type': 'application/json',
      'user-agent': `voice-agent-testing/${API_VERSION}`,
      'webhook-id': eventId,
      'webhook-timestamp': String(Math.floor(time.getTime() / 1000)),
      // An agent without a secret gets its events unsigned.
      ...(secrets.length > 0 && { 'webhook-signature': sign(secrets, eventId, time, body) }),
    };
  }

  private async target(delivery: ClaimedDelivery): Promise<Target | undefined> {
    const { endpointId, agentId, url, secret, previousSecret } = delivery;
    if (endpointId !== null && url !== null && secret !== null) {
      const current = this.keyRing.decrypt(secret, webhookSecretPurpose(endpointId, 'secret'));
      if (previousSecret === null) return { url, secrets: [current] };
      const previous = this.keyRing.decrypt(previousSecret, webhookSecretPurpose(endpointId, 'previousSecret'));
      return { url, secrets: [current, previous] };
    }
    const webhook = agentId === null ? undefined : await this.agents.findWebhook(agentId);
    return webhook && { url: webhook.url, secrets: webhook.secret ? [webhook.secret] : [] };
  }
}

function refusal(status: number): string {
  if (status === 410) return 'The receiver responded with 410: it wants no more events';
  if (status >= 300 && status < 400) return `The receiver responded with ${status}; redirects are not followed`;
  return `The receiver responded with ${status}`;
}
