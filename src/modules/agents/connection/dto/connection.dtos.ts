import { ApiProperty } from '@nestjs/swagger';
import {
  type ConnectionStep,
  type ConnectionTestResult,
  FINDING_SEVERITIES,
  type FindingSeverity,
  FIRST_SPEAKERS,
  type FirstSpeaker,
  type ProtocolModule,
  type ProtocolName,
  PROTOCOLS,
  STEP_STATUSES,
} from '../../../../../libs/simulation/index.js';
import { EXAMPLE_ID } from '../../../../platform/http/dto/example-ids.js';
import {
  BooleanField,
  EnumField,
  MAX_LENGTH,
  NumberField,
  ObjectField,
  StringField,
} from '../../../../platform/http/dto/fields.js';
import { MAX_HEADERS } from '../connection-rules.js';

const HEADER = { type: ['string', 'null'], maxLength: MAX_LENGTH.credential } as const;

const fields = {
  protocol: { description: 'Protocol over which the agent is called', example: 'chat-completions' },
  url: {
    description:
      'Address of the agent. `{assistantId}`, `{phoneNumber}` and `{callId}` in its path or query are replaced, percent-encoded',
    example: 'https://agent.example.com/v1/chat/completions',
    minLength: 1,
    maxLength: MAX_LENGTH.url,
  },
  firstSpeaker: {
    description:
      'Which side says the first words. By default `caller` on text calls, and null on voice calls: whichever side speaks. Over `openai-realtime` by default `agent`: it is asked to greet; over `elevenlabs-text` by default `agent`: its greeting is awaited',
    example: 'caller',
    nullable: true,
  },
} as const;

/** The options of a protocol in one sentence. */
function optionsText({ name, options }: ProtocolModule): string {
  const texts = Object.entries(options).map(
    ([option, { description, isSecret }]) => `\`${option}\` (${isSecret ? 'secret; ' : ''}${description})`,
  );
  return `\`${name}\`: ${texts.length === 0 ? 'none' : texts.join(', ')}`;
}

const defaultUrls = () =>
  PROTOCOLS.all.flatMap(({ name, defaultUrl }) => (defaultUrl ? [`\`${name}\` ${defaultUrl}`] : [])).join(', ');

/** How an agent is reached. */
export class Connection {
  @EnumField(PROTOCOLS.names, fields.protocol)
  protocol: ProtocolName;

  @StringField({
    ...fields.url,
    description: `${fields.url.description}. Null if the address is that of the provider, a setting of the service`,
    nullable: true,
  })
  url: string | null;

  @EnumField(['own', 'setting', 'vendor'], {
    description:
      '`own`: the address is that of the connection. `setting`: that of the provider, a setting of the service. `vendor`: the default address of the protocol',
    example: 'own',
  })
  address: 'own' | 'setting' | 'vendor';

  @ObjectField({
    description: 'Headers that are sent with every request: each name with null, because values are never returned',
    example: { 'X-Tenant': null },
    values: { type: 'null' },
  })
  headers: Record<string, null>;

  @EnumField(FIRST_SPEAKERS, fields.firstSpeaker)
  firstSpeaker: FirstSpeaker | null;

  @ObjectField({ description: 'Options of the protocol; null for each secret one', example: {} })
  options: Record<string, unknown>;

  @EnumField(['agent', 'provider'], {
    description: '`agent`: its own connection. `provider`: only the settings of the service for its provider apply',
    example: 'agent',
  })
  source: 'agent' | 'provider';
}

/** A whole connection: what is missing gets its default. */
export class PutConnectionRequest {
  @EnumField(PROTOCOLS.names, { ...fields.protocol, optional: true, default: 'chat-completions' })
  protocol?: ProtocolName;

  @StringField({
    ...fields.url,
    description: `${fields.url.description}. Required unless the protocol has a default: ${defaultUrls()}`,
    optional: true,
  })
  url?: string;

  @ObjectField({
    description:
      'Headers to send with every request, at most 32. `Authorization` replaces the header with the `apiKey` of the agent. Null ' +
      'keeps the stored value, as long as scheme, host and port of `url` stay the same',
    example: { 'X-Tenant': 'bella-vista' },
    values: HEADER,
    maxEntries: MAX_HEADERS,
    optional: true,
    default: {},
  })
  headers?: Record<string, unknown>;

  @EnumField(FIRST_SPEAKERS, { ...fields.firstSpeaker, optional: true })
  firstSpeaker?: FirstSpeaker | null;

  @ObjectField({
    description: `Options of the protocol. ${PROTOCOLS.all.map(optionsText).join('. ')}`,
    example: {},
    optional: true,
    default: {},
  })
  options?: Record<string, unknown>;
}

/** One step of a test. */
class ConnectionTestStep implements ConnectionStep {
  @EnumField(PROTOCOLS.steps, {
    description:
      '`resolved`: the host name leads to an address that may be called; `connected`; `secured`: TLS; `accepted`: the request or webhook; `answered`: first words or first sound. Of voice calls only: `twiml`: the response connects a media stream; `websocket`; ' +
      '`words`: the platform reports what the agent says, without which it can be called all the same',
    example: 'resolved',
  })
  step: string;

  @EnumField(STEP_STATUSES, {
    description: '`skipped`: not reached, or not part of this connection, such as TLS over http',
    example: 'passed',
  })
  status: ConnectionStep['status'];

  @NumberField({ description: 'Duration of the step in milliseconds', example: 12.4, minimum: 0, nullable: true })
  ms: number | null;

  @StringField({ description: 'What happened', example: 'The connection was established', maxLength: MAX_LENGTH.text })
  message: string;

  @StringField({
    description:
      'What the agent sent or said: its first words, or the beginning of what was not understood. Without secrets',
    example: null,
    maxLength: MAX_LENGTH.text,
    nullable: true,
  })
  said: string | null;

  @StringField({
    description: 'What to do about a failure, or about words that are not reported',
    example: null,
    maxLength: MAX_LENGTH.text,
    nullable: true,
  })
  cure: string | null;
}

/** A deviation of the agent from its protocol. */
class ConnectionTestFinding {
  @StringField({ description: 'Name of the deviation', example: 'signature_not_checked', maxLength: MAX_LENGTH.name })
  code: string;

  @EnumField(FINDING_SEVERITIES, {
    description: '`error`: the caller hears something else than the agent meant, or the platform ignores the message',
    example: 'warning',
  })
  severity: FindingSeverity;

  @StringField({
    description: 'What happened',
    example: 'The agent accepted the webhook with a wrong X-Twilio-Signature: anybody could call it',
    maxLength: MAX_LENGTH.text,
  })
  detail: string;

  @StringField({
    description: 'What the documentation of the platform says',
    example: 'Your web application should verify that Twilio is the service that sent a webhook',
    maxLength: MAX_LENGTH.text,
  })
  source: string;
}

/** What happened when the agent was called. */
export class ConnectionTest implements ConnectionTestResult {
  @BooleanField({ description: 'Whether no step failed', example: true })
  ok: boolean;

  @StringField({
    description: 'Id that the agent received as `X-Call-Id`, to find the call in its log',
    format: 'uuid',
    example: EXAMPLE_ID.call,
    maxLength: MAX_LENGTH.identifier,
  })
  callId: string;

  @ApiProperty({ description: 'All steps of the protocol, in order', type: [ConnectionTestStep] })
  steps: ConnectionTestStep[];

  @ApiProperty({ description: 'Deviations from the protocol; none over text', type: [ConnectionTestFinding] })
  findings: ConnectionTestFinding[];
}
