import { randomBytes } from 'node:crypto';
import { decodeMulaw } from '../../../libs/audio/index.js';
import { VoiceAgent, type VoiceAgentOptions } from '../agent/voice/voice-agent.js';
import type { KeptCalls } from '../records/kept-calls.js';
import { LineRecorder } from '../records/line-recorder.js';
import { CalledParty, type ReceivedCall } from '../sip/called-party.js';
import { RtpLine } from '../sip/rtp-line.js';

/** What a call was registered with, by the typings of `retell-sdk` 5.66.1 (`CallRegisterPhoneCallParams`). */
export interface RegisterBody {
  readonly agent_id: string;
  readonly agent_version?: string | number;
  readonly direction?: 'inbound' | 'outbound';
  readonly from_number?: string;
  readonly to_number?: string;
  readonly metadata?: object;
  readonly retell_llm_dynamic_variables?: Readonly<Record<string, string>>;
}

/** How the platform deviates, which can be changed while it runs. */
export interface TelephoneFaults {
  /** How long an id can be dialled; five minutes by default. */
  validMs?: number;
  /** Answers each INVITE with it, such as `486 Busy Here`. */
  refusesWith?: string;
  /** Ends each call so long after its answer. */
  endsAfterMs?: number;
  /** In place of the true reason of the end. */
  reason?: string;
  /** In place of fields of the record. */
  recordFields?: Readonly<Record<string, unknown>>;
  /** The record of a call comes so much later than its end. */
  recordedAfterMs?: number;
}

/** The voice of an agent, or undefined while it cannot speak. */
export type RetellVoice = (agent: string) => Promise<VoiceAgentOptions | undefined>;

interface Registered {
  readonly id: string;
  readonly body: RegisterBody;
  readonly at: number;
}

const newId = (): string => `call_${randomBytes(14).toString('hex').slice(0, 27)}`;
const VALID_MS = 5 * 60_000;
const TICK_MS = 10;
/** Tools that the platform runs. */
const TOOLS: ReadonlySet<string> = new Set(['check_availability', 'book_table', 'cancel_booking']);

/**
 * The SIP server of the platform: an id that was issued by the API can be called once, for five minutes, and a number that was
 * imported always.
 */
export class RetellTelephone {
  readonly faults: TelephoneFaults = {};
  /** Bodies of the registrations, with the headers of the calls that were made with them. */
  readonly registered: RegisterBody[] = [];
  readonly invited: ReceivedCall[] = [];
  /** Imported numbers, or names, with the agents behind them. */
  readonly numbers = new Map<string, string>();
  private readonly waiting = new Map<string, Registered>();
  private readonly over = new Set<() => void>();
  private party: CalledParty | undefined;

  constructor(
    private readonly kept: KeptCalls,
    private readonly voice: RetellVoice,
  ) {}

  async listen(port = 0): Promise<void> {
    this.party = await CalledParty.listen((call) => void this.take(call), port);
  }

  /** The address of the server, as an option of a connection. */
  get url(): string {
    return `sip:${this.party!.address};transport=tcp`;
  }

  close(): void {
    for (const end of this.over) end();
    this.party?.close();
  }

  register(body: RegisterBody): string {
    const id = newId();
    this.registered.push(body);
    this.waiting.set(id, { id, body, at: Date.now() });
    return id;
  }

  /** A call that was registered and not yet answered. */
  waitingFor(id: string): RegisterBody | undefined {
    return this.waiting.get(id)?.body;
  }

  private async take(call: ReceivedCall): Promise<void> {
    this.invited.push(call);
    const { validMs = VALID_MS, refusesWith } = this.faults;
    const registered = this.waiting.get(call.user) ?? this.imported(call.user);
    if (refusesWith !== undefined) return call.refuse(refusesWith);
    if (!registered || Date.now() - registered.at >= validMs) return call.refuse('404 Not Found');
    this.waiting.delete(call.user);
    call.ring();
    const options = await this.voice(registered.body.agent_id);
    if (!options) return call.refuse('480 Temporarily Unavailable');
    const line = await RtpLine.open(call.media, {});
    this.talk(call, line, options, registered);
    call.answer('127.0.0.1', line.port);
  }

  private imported(number: string): Registered | undefined {
    const agent = this.numbers.get(number);
    return agent === undefined ? undefined : { id: newId(), body: { agent_id: agent }, at: Date.now() };
  }

  private talk(call: ReceivedCall, line: RtpLine, options: VoiceAgentOptions, { id, body }: Registered): void {
    const startedAt = Date.now();
    const recorder = new LineRecorder(() => Date.now() - startedAt);
    let running: readonly string[] = [];
    const agent = new VoiceAgent(
      {
        media: (bytes) => line.play(bytes),
        mark: (name) => line.mark(name),
        clear: () => line.clear(),
        hangUp: () => call.hangUp(),
        callTools: (calls) => (running = calls.map((one) => one.id)),
      },
      { ...options, hostedTools: () => TOOLS, recorded: (inner) => recorder.around(inner) },
    );
    const timer = setInterval(() => {
      for (const tool of running) agent.toolResult(tool, '{"status":"ok"}');
      if (running.length > 0) {
        running = [];
        agent.goOn(performance.now());
      }
      agent.tick(performance.now());
      if (Date.now() - startedAt >= (this.faults.endsAfterMs ?? Infinity)) call.hangUp();
    }, TICK_MS);
    const end = () => {
      clearInterval(timer);
      line.close();
      this.over.delete(end);
    };
    this.over.add(end);
    line.onSound = (mulaw) => agent.hear(performance.now(), decodeMulaw(mulaw));
    line.onKey = (key) => agent.key(performance.now(), key);
    line.onMark = (name) => agent.onMark(performance.now(), name);
    call.onEnd = () => {
      end();
      const endedAt = Date.now();
      const { metadata, agent_version = 0, direction = 'inbound', retell_llm_dynamic_variables: variables } = body;
      const fields = {
        metadata,
        agent_version,
        direction,
        retell_llm_dynamic_variables: variables,
        ...this.faults.recordFields,
      };
      const from = /sip:([^@>]*)/.exec(call.header('From'))?.[1] ?? '';
      const attempt = call.header('X-Vat-Call');
      const whole = {
        ...{ id, agent: body.agent_id, startedAt, endedAt, ...recorder.heard, callerNumber: from, fields },
        ...{
          reason: this.faults.reason ?? (recorder.hangsUp ? 'agent_hangup' : 'user_hangup'),
          ...(attempt !== '' && { attempt }),
        },
      };
      this.kept.keep({ ...whole, endedAt: null });
      setTimeout(() => this.kept.keep(whole), this.faults.recordedAfterMs ?? 0).unref();
    };
    agent.start(performance.now());
  }
}
