import { Inject, Injectable } from '@nestjs/common';
import { OutboundClient, OutboundError, sign } from '../../../libs/outbound-http/index.js';
import { clipped, oneLine, retryAfterMs, visible } from '../../../libs/text/index.js';
import { SETTINGS } from '../../platform/config/settings.module.js';
import type { Settings } from '../../platform/config/settings.js';
import { KeyRing } from '../../platform/encryption/key-ring.js';
import { API_VERSION } from '../../platform/api-version.js';
import { AgentsService } from '../agents/agents.service.js';
import { MessageLinksService } from './message-links.service.js';
import { slackBody } from './slack-message.js';
import type { ClaimedDelivery, Outcome } from './webhook-deliveries.repository.js';
import { webhookSecretPurpose } from './webhook-endpoint.entity.js';
import { WebhookPolicy } from './webhook-policy.js';

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
    private readonly links: MessageLinksService,
    @Inject(SETTINGS) private readonly settings: Settings,
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
      const body = await this.body(delivery, target.secrets[0]);
      const response = await this.outbound.request({
        url: target.url,
        method: 'POST',
        headers: this.headers(delivery.eventId, body, target, time),
        body,
        timeoutMs: this.policy.timeout,
        maxBodyBytes: this.policy.maxResponseBytes,
        signal,
      });
      const { status, headers } = response;
      if (status >= 200 && status < 300) return outcome('DELIVERED', status, null);
      const retryAfter = retryAfterMs(headers['retry-after']);
      return { ...outcome(status === 410 ? 'GONE' : 'FAILED', status, refusal(status, response.body)), retryAfter };
    } catch (error) {
      if (!(error instanceof OutboundError)) throw error;
      return error.reason === 'ABORTED' ? undefined : outcome('FAILED', null, error.message);
    }
  }

  /** The event as stored, or as a message in the format of the endpoint at the time of the attempt. */
  private async body(delivery: ClaimedDelivery, secret: string | undefined): Promise<string> {
    const { body, format, links, endpointId, about: agentId, agentName } = delivery;
    const { publicUrl } = this.settings;
    if (format !== 'slack') return body;
    const hasPage = links && publicUrl !== undefined && agentId !== null && endpointId !== null && secret !== undefined;
    const pageUrl = hasPage ? await this.links.make(agentId, endpointId, secret) : undefined;
    return slackBody(body, { agentId, agentName, publicUrl, pageUrl });
  }

  private headers(eventId: string, body: string, { secrets }: Target, time: Date): Record<string, string> {
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

/** Maximum length of the reason why an attempt failed. */
const MAX_REFUSAL = 255;

/** Why the receiver refused it, with the receiver's answer. */
function refusal(status: number, body: Buffer): string {
  const answer = words(body);
  const said = `The receiver responded with ${status}${answer === '' ? '' : ` (${answer})`}`;
  if (status === 410) return clipped(`${said}: it wants no more events`, MAX_REFUSAL);
  return clipped(status >= 300 && status < 400 ? `${said}; redirects are not followed` : said, MAX_REFUSAL);
}

/** A response as text on one line; empty for bytes of another kind, and for a page, which is often that of a proxy. */
function words(body: Buffer): string {
  // Not by the content type: Slack sends its plain words as `text/html`.
  const text = oneLine(body.toString('utf8'));
  return text.startsWith('<') || text.includes('\uFFFD') ? '' : clipped(visible(text), 160);
}
