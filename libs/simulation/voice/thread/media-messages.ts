import type { PortRange } from '../../../rtp/index.js';
import type { Failure } from '../../timeline/failure.js';
import type { SocketTarget } from '../../transports/http/websocket.js';
import type { VoiceFacts } from '../facts/facts.js';
import type { HeardPiece } from '../facts/heard-piece.js';
import type { TurnAnswer, TurnQuestion } from '../facts/turn-question.js';
import type { VoiceCallPlan } from '../facts/plan.js';
import type { WireState } from '../wire/wire.js';
import type { CallSignal, DatagramTarget } from '../wire/signalling.js';

/** How the media thread reaches an agent. */
export interface MediaConnection {
  /** That of `AgentCall`. */
  readonly callId: string;
  /** URL of a module whose default export is a `WireEntry`. */
  readonly entry: string;
  readonly state: WireState;
  /** A WebSocket, or packets through the ports of this number. */
  readonly target: SocketTarget | (DatagramTarget & { readonly ports: number });
  /** What failures show as the address. */
  readonly shownUrl: string;
  readonly timeoutMs: number;
  /** The answer in milliseconds since the epoch, with fractions; undefined if the call begins with the stream. */
  readonly answeredAt: number | undefined;
  /** What the platform said for the agent before the stream; times in milliseconds from the answer. */
  readonly sounds: readonly { readonly atMs: number; readonly pcm: Int16Array }[];
}

/** A call for the media thread: plain data. */
export interface MediaTask {
  readonly plan: VoiceCallPlan;
  /** Whether audio and messages are passed on as the call goes on. */
  readonly isRecorded: boolean;
  /** Whether audio of the agent is passed on for a recogniser. */
  readonly isTranscribed: boolean;
  readonly connection: MediaConnection;
}

/** To the media thread. */
export type MediaRequest =
  | { readonly type: 'call'; readonly id: number; readonly task: MediaTask }
  | { readonly type: 'abort'; readonly id: number }
  /** Ports for a call that is dialled next; `release` closes them if no call took them. */
  | { readonly type: 'bind'; readonly id: number; readonly address: string; readonly range: PortRange | undefined }
  | { readonly type: 'release'; readonly id: number }
  | { readonly type: 'signal'; readonly id: number; readonly signal: CallSignal }
  /** The caller's answer to a question; ignored if it is not that to the latest one. */
  | { readonly type: 'step'; readonly id: number; readonly answer: TurnAnswer };

/**
 * How far the connection of a call is; `ready` is call time 0 unless the call was answered before, `media` the first packet of a
 * call without WebSocket.
 */
export type ThreadStep = 'resolved' | 'connected' | 'secured' | 'websocket' | 'ready' | 'media';

/** From the media thread. */
export type MediaReply =
  | { readonly type: 'ready' }
  /** Null: the ports could not be bound, for this reason. */
  | { readonly type: 'bound'; readonly id: number; readonly port: number | null; readonly reason: string }
  /** @param at milliseconds since the epoch, with fractions */
  | { readonly type: 'step'; readonly id: number; readonly step: ThreadStep; readonly at: number }
  | { readonly type: 'audio'; readonly id: number; readonly interleaved: Uint8Array }
  | { readonly type: 'wire'; readonly id: number; readonly lines: readonly string[] }
  /** Its audio is transferred. */
  | { readonly type: 'piece'; readonly id: number; readonly piece: HeardPiece }
  /** The caller is asked what it does. */
  | { readonly type: 'turn'; readonly id: number; readonly question: TurnQuestion }
  | { readonly type: 'identified'; readonly id: number; readonly platformId: string }
  | { readonly type: 'hung_up'; readonly id: number }
  /** As asked for; `facts` is null if the call had not begun. */
  | { readonly type: 'aborted'; readonly id: number; readonly facts: VoiceFacts | null }
  | { readonly type: 'facts'; readonly id: number; readonly facts: VoiceFacts }
  | { readonly type: 'failed'; readonly id: number; readonly failure: Failure };
