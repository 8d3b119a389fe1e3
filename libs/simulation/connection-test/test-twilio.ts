import { dbfs, decodeMulaw, MULAW_SILENCE } from '../../audio/index.js';
import { CallFailure, type Failure, failureOf } from '../failure.js';
import { withoutSecrets } from '../other-side.js';
import type { AgentCall, AgentEndpoint } from '../transports/endpoint.js';
import { twilioFinding } from '../transports/twilio/findings.js';
import { twilioProtocol } from '../transports/twilio/protocol.js';
import { TwilioSession } from '../transports/twilio/session.js';
import { otherPortForm, twilioSignature } from '../transports/twilio/signature.js';
import { connectionOf } from '../transports/twilio/transport.js';
import type { MediaConnection } from '../transports/media-worker.js';
import { AgentSocket, type SocketTarget } from '../transports/websocket.js';
import type { WireFinding } from '../voice/facts.js';
import type { MediaProtocol, MediaSide } from '../voice/media.js';
import { WireFindings } from '../voice/wire-findings.js';
import {
  CONNECTION_STEPS,
  type ConnectionStep,
  type ConnectionStepName,
  type ConnectionTestResult,
  skipped,
  UNREACHABLE,
} from './steps.js';
import { CURE_OF_SILENCE, cureOfPort, cureOfTwilio } from './twilio-cures.js';

const FRAME_MS = 20;
/** How long the first sound is awaited. */
const SOUND_MS = 8_000;
/** The gate of calls opens at this level. */
const AUDIBLE_DBFS = -55;
/** For each further request with another signature. */
const PROBE_MS = 3_000;
const WRONG_TOKEN = 'a wrong token';

/** Calls an agent over Twilio Media Streams until its first sound, in this thread: nothing is measured exactly. */
export class TwilioConnectionTest {
  private readonly reached = new Map<ConnectionStepName, number>();
  private readonly startedAt = performance.now();
  private readonly session: TwilioSession;
  private readonly isDirect: boolean;
  private readonly findings = new WireFindings();
  private readonly over = new AbortController();
  private cure: string | undefined;

  constructor(
    private readonly endpoint: AgentEndpoint,
    private readonly call: AgentCall,
  ) {
    this.session = new TwilioSession(endpoint, call, {
      onPhase: (phase) => this.reach(phase),
      onAnswer: () => this.reach('accepted'),
    });
    this.isDirect = /^wss?:/i.test(endpoint.url);
  }

  async run(timeoutMs: number): Promise<ConnectionTestResult> {
    const timer = setTimeout(() => this.over.abort(new CallFailure('timeout', 'the test is over')), timeoutMs);
    try {
      const problem = await this.attempt().catch((error: unknown) => error);
      if (problem === undefined) await this.tryWrongSignature();
      else if (isForbidden(problem)) await this.tryOtherPort();
      return this.result(problem === undefined ? undefined : failureOf(problem));
    } finally {
      clearTimeout(timer);
      this.over.abort();
    }
  }

  private async attempt(): Promise<void> {
    const { signal } = this.over;
    const dialled = await this.session.dial(signal);
    if (!this.isDirect) this.reach('twiml');
    for (const finding of dialled.findings) this.findings.add(finding);
    const connection = await connectionOf(this.session, this.call, dialled);
    await this.listen(connection);
  }

  /** Streams silence until something is heard. */
  private listen(connection: MediaConnection): Promise<void> {
    return new Promise((resolve, reject) => {
      const { signal } = this.over;
      let frame = 0;
      const silence = new Uint8Array(8 * FRAME_MS).fill(MULAW_SILENCE);
      const timers: NodeJS.Timeout[] = [];
      const finish = (error?: Error) => {
        for (const timer of timers) clearTimeout(timer);
        signal.removeEventListener('abort', onAbort);
        if (error === undefined || socket.isOpen) protocol.stop(performance.now());
        socket.close();
        if (error === undefined) resolve();
        else reject(error);
      };
      const onAbort = () => finish(signal.reason as Error);
      const socket = new AgentSocket(connection.target, this.session.agent, connection.timeoutMs, {
        onPhase: (phase) => {
          if (this.isDirect) this.reach(phase);
        },
        onOpen: () => {
          this.reach('websocket');
          protocol.open(performance.now());
          if (this.endpoint.firstSpeaker === 'caller') return finish();
          timers.push(
            setInterval(() => protocol.frame(performance.now(), silence, frame++), FRAME_MS),
            setTimeout(() => {
              this.cure = CURE_OF_SILENCE;
              finish(new CallFailure('timeout', `no audible sound within ${SOUND_MS / 1_000} s`));
            }, SOUND_MS),
          );
        },
        onMessage: (data) => protocol.message(performance.now(), data),
        onClose: (code) =>
          finish(new CallFailure('connection_lost', `closed with code ${code} before the first sound`)),
        onFailure: finish,
      });
      const protocol: MediaProtocol = twilioProtocol(connection.twilio)(
        this.side(socket, () => {
          this.reach('answered');
          finish();
        }),
      );
      signal.addEventListener('abort', onAbort, { once: true });
    });
  }

  private side(socket: AgentSocket, onSound: () => void): MediaSide {
    return {
      send: (data) => socket.send(data),
      play: (_now, mulaw) => {
        if (dbfs(decodeMulaw(mulaw)) > AUDIBLE_DBFS) onSound();
      },
      clear: () => undefined,
      mark: (now, onPlayed) => onPlayed(now),
      // Sound is not kept: the test ends with the first.
      bufferedMs: () => 0,
      finding: (_now, finding) => this.findings.add({ ...finding, atMs: null }),
      event: () => undefined,
      log: () => undefined,
      isLogged: false,
      turnEnded: () => undefined,
    };
  }

  /** Whether the agent checks signatures: a wrong one must be refused. */
  private async tryWrongSignature(): Promise<void> {
    if (this.session.authToken === undefined || this.over.signal.aborted) return;
    if (!(await this.isAccepted(this.session.first.signedUrl, WRONG_TOKEN))) return;
    const what = this.isDirect ? 'a WebSocket upgrade' : 'the webhook';
    const detail = `The agent accepted ${what} with a wrong X-Twilio-Signature: anybody could call it`;
    this.findings.add({ ...twilioFinding('signature_not_checked', detail), atMs: null });
  }

  /** Agents and proxies see an address with or without its port; Twilio signs it as it is written. */
  private async tryOtherPort(): Promise<void> {
    const other = otherPortForm(this.session.first.signedUrl);
    const { authToken } = this.session;
    if (other === undefined || authToken === undefined || this.over.signal.aborted) return;
    if (await this.isAccepted(other, authToken)) this.cure = cureOfPort(withoutSecrets(other));
  }

  private async isAccepted(signedUrl: string, authToken: string): Promise<boolean> {
    const { url } = this.session.first;
    const signal = AbortSignal.any([this.over.signal, AbortSignal.timeout(PROBE_MS)]);
    try {
      if (this.isDirect) return await this.isUpgraded(signedUrl, authToken);
      await this.session.request({ url, signedUrl }, 'POST', 'ringing', signal, authToken);
      return true;
    } catch {
      return false;
    }
  }

  private async isUpgraded(signedUrl: string, authToken: string): Promise<boolean> {
    const dialled = await this.session.dial(this.over.signal);
    const { target } = await connectionOf(this.session, this.call, dialled);
    const headers = { ...target.headers, 'x-twilio-signature': twilioSignature(authToken, signedUrl) };
    return isOpened({ ...target, headers }, this.session);
  }

  private reach(step: ConnectionStepName): void {
    if (!this.reached.has(step)) this.reached.set(step, performance.now());
  }

  private result(problem: Failure | undefined): ConnectionTestResult {
    const failed = problem && this.failedStep(problem);
    let previous = this.startedAt;
    const steps = CONNECTION_STEPS.map((step): ConnectionStep => {
      const omitted = this.omitted(step);
      if (omitted !== undefined) return skipped(step, omitted);
      const at = step === failed ? performance.now() : this.reached.get(step);
      if (at === undefined) return skipped(step, 'Not reached');
      const ms = Math.max(0, Math.round((at - previous) * 10) / 10);
      previous = at;
      if (step === failed) return this.failedStepOf(step, ms, problem!);
      return { step, status: 'passed', ms, message: MESSAGES[step], said: null, cure: null };
    });
    return { ok: problem === undefined, callId: this.call.callId, steps, findings: withoutTimes(this.findings.list()) };
  }

  /** Why a step is no part of this test. */
  private omitted(step: ConnectionStepName): string | undefined {
    if (step === 'secured' && !/^(https|wss):/i.test(this.endpoint.url)) return 'The url has no TLS';
    if (this.isDirect && (step === 'accepted' || step === 'twiml'))
      return 'The url is a WebSocket: there is no webhook';
    if (step === 'answered' && this.endpoint.firstSpeaker === 'caller') {
      return this.reached.has('websocket') ? 'The caller speaks first' : 'Not reached';
    }
    return undefined;
  }

  private failedStep({ code }: Failure): ConnectionStepName {
    // The response was accepted, and it is no TwiML.
    if (code === 'invalid_twiml' || (code === 'answer_too_large' && !this.reached.has('websocket'))) {
      this.reach('accepted');
      return 'twiml';
    }
    return CONNECTION_STEPS.find((step) => !this.reached.has(step) && this.omitted(step) === undefined) ?? 'answered';
  }

  /** Not that of the stream, which only the TwiML names. */
  private signedUrlOf(step: ConnectionStepName): string | undefined {
    const isFirst = step === 'accepted' || this.isDirect;
    return isFirst && this.session.authToken !== undefined ? withoutSecrets(this.session.first.signedUrl) : undefined;
  }

  private failedStepOf(step: ConnectionStepName, ms: number, { code, message }: Failure): ConnectionStep {
    const common = { step, status: 'failed' } as const;
    const status = Number(/\bHTTP (\d{3})\b/.exec(message)?.[1] ?? 0) || undefined;
    const cure = this.cure ?? cureOfTwilio(step, code, status, this.signedUrlOf(step));
    const isUnreachable = code === 'address_refused' || code === 'name_not_found';
    if (isUnreachable) return { ...common, ms: 0, message: UNREACHABLE, said: null, cure };
    const said = /; it said "(.*)"$/s.exec(message)?.[1] ?? null;
    return { ...common, ms, message: message.replace(/; it said .*$/s, ''), said, cure };
  }
}

const MESSAGES: Readonly<Record<ConnectionStepName, string>> = {
  resolved: 'The host name leads to an address that may be called',
  connected: 'The connection was established',
  secured: 'The connection is encrypted, and the certificate is valid',
  accepted: 'The agent accepted the webhook',
  twiml: 'The TwiML connects a media stream',
  websocket: 'The agent accepted the WebSocket',
  answered: 'The first sound of the agent arrived',
};

const withoutTimes = (findings: readonly WireFinding[]): Omit<WireFinding, 'atMs'>[] =>
  findings.map(({ code, severity, detail, source }) => ({ code, severity, detail, source }));

const isForbidden = (problem: unknown): boolean =>
  problem instanceof CallFailure && /^HTTP 403\b/.test(problem.what ?? '');

/** Whether the agent accepts an upgrade; closes the connection at once. */
function isOpened(target: SocketTarget, { agent }: TwilioSession): Promise<boolean> {
  return new Promise((resolve) => {
    const finish = (isOpen: boolean) => {
      socket.close();
      resolve(isOpen);
    };
    const socket = new AgentSocket(target, agent, PROBE_MS, {
      onOpen: () => finish(true),
      onMessage: () => undefined,
      onClose: () => resolve(false),
      onFailure: () => resolve(false),
    });
  });
}
